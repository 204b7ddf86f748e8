"""What the differential tests share: a TAP stream, our facts, LLVM's reading of notes."""
import json
import os
import re
import subprocess
import tempfile


class Tap:
    """One line a case; a plan at the end. exit() is the program's exit status."""

    def __init__(self):
        self.n = 0
        self.failed = 0

    def _line(self, state, name, rest=''):
        self.n += 1
        print('%s %d - %s%s' % (state, self.n, name, rest), flush=True)

    def ok(self, name):
        self._line('ok', name)

    def skip(self, name, why):
        self._line('ok', name, ' # SKIP ' + why)

    def fail(self, name, details):
        self.failed += 1
        self._line('not ok', name)
        for line in details[:20]:
            print('# ' + line)

    def check(self, name, details):
        """details: lines of what is wrong, none when all is well."""
        if details:
            self.fail(name, details)
        else:
            self.ok(name)

    def exit(self):
        print('1..%d' % self.n)
        return 1 if self.failed else 0


def facts(program, files, folder=None):
    """Our facts of every code object in files; the objects go to folder/NUMBER."""
    p = subprocess.run([program, folder or '-'] + list(files), capture_output=True, text=True)
    if p.returncode:
        raise RuntimeError(p.stderr.strip())
    return json.loads(p.stdout)


def tool(*names):
    """The first of these programs that is installed, or None."""
    for name in names:
        for d in os.environ.get('PATH', '').split(':'):
            if os.access(os.path.join(d, name), os.X_OK):
                return name
    return None


def shared():
    """The folder with real code objects, or None."""
    top = os.environ.get('RCK_SOURCE_DIR', '.')
    path = os.environ.get('RCK_SHARED', os.path.join(top, '..', 'shared'))
    return path if os.path.isdir(os.path.join(path, 'corpus')) else None


def _scalar(text):
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if re.fullmatch(r'0x[0-9a-fA-F]+', text):
        return int(text, 16)
    return int(text) if re.fullmatch(r'\d+', text) else text


# A key of a kernel's map, or of an argument's, by the column where it stands: LLVM's writer
# puts list items at '- ', and the keys that follow under the first one.
_KEY = re.compile(r'^( *)(- )?([.\w]+): *(.*)$')


def parse_notes(text):
    """The kernels of one code object as llvm-readelf --notes prints their metadata: maps by
    key, with 'args' a list of maps. Both msgpack's keys and V2's."""
    kernels = []
    lines = iter(text.splitlines())
    column = None  # of the kernels' keys
    where = None
    for line in lines:
        m = _KEY.match(line)
        if not m:
            continue
        at = len(m.group(1)) + len(m.group(2) or '')
        key, value = m.group(3), m.group(4)
        if key in ('amdhsa.kernels', 'Kernels'):
            # readelf indents the first line of the text, and no other: not by column, then
            column = 2 + 2
            where = 'kernels'
            continue
        if where != 'kernels':
            continue
        if at < column and not m.group(2):
            where = None
            continue
        if at == column:
            if m.group(2):
                kernels.append({'args': []})
            section = key
            if value:
                kernels[-1][key] = _scalar(value)
        elif section in ('.args', 'Args') and at == column + 4:
            if m.group(2):
                kernels[-1]['args'].append({})
            kernels[-1]['args'][-1][key] = _scalar(value)
        elif section in ('CodeProps', 'Attrs') and at == column + 2:
            kernels[-1][key] = _scalar(value)
    return kernels


def llvm_notes(readelf, path):
    p = subprocess.run([readelf, '--notes', path], capture_output=True, text=True,
                       errors='surrogateescape')
    if p.returncode:
        raise RuntimeError(p.stderr.strip())
    return parse_notes(p.stdout)


def scratch():
    return tempfile.TemporaryDirectory(prefix='rck-diff-')
