# A CMake HIP-language project on this machine's clang and ROCm. Sourced; needs $work.
# shellcheck shell=bash

# The newest clang++ whose bitcode Debian's device libraries fit, and CMake's HIP packages, which
# Debian keeps in the multiarch folder where HIP's language test does not look.
cmake_hip_prepare() {
	local multiarch lib
	multiarch=$(gcc -print-multiarch)
	lib=/usr/lib/$multiarch
	mkdir -p "$work/root/lib/cmake"
	ln -sfn "$lib/cmake/hip-lang" "$work/root/lib/cmake/hip-lang"
	export CMAKE_PREFIX_PATH=$lib/cmake:$lib/cmake/amd_comgr:$lib/cmake/hsa-runtime64:$lib/cmake/hip
	rocm_flags="--rocm-path=/usr --rocm-device-lib-path=$lib/amdgcn/bitcode"
}

# cmake_hip SOURCE BUILD OPTION...: configures; the flags that find ROCm come in a toolchain
# variable of their own, so that CMAKE_HIP_FLAGS stays the caller's.
cmake_hip() {
	local source=$1 build=$2
	shift 2
	cmake -S "$source" -B "$build" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
		-DCMAKE_HIP_COMPILER_ROCM_ROOT="$work/root" -DCMAKE_HIP_COMPILER=clang++-15 \
		-DCMAKE_HIP_ARCHITECTURES=gfx1030 "$@"
}
