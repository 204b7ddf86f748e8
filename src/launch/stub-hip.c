/*
 * What the probe is linked against: the names of the HIP runtime and nothing behind them,
 * once for each SONAME that a ROCm may have (libamdhip64.so.5, .so.6, .so.7). Never
 * installed, never loaded: at run time the ROCm at hand answers. The functions and their
 * version, hip_4.2, are the same in 5.2.3 and 6.4.3 (read off their dynamic symbols).
 */
#define STUB(name)                                                                       \
	__attribute__((visibility("default"))) void name(void);                          \
	void name(void)                                                                  \
	{                                                                                \
	}

STUB(hipExtStreamCreateWithCUMask)
STUB(hipGetErrorString)
STUB(hipMalloc)
STUB(hipMemcpy)
STUB(hipModuleGetFunction)
STUB(hipModuleLaunchKernel)
STUB(hipModuleLoad)
STUB(hipStreamDestroy)
STUB(hipStreamSynchronize)
