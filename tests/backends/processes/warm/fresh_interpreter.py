"""What a script may look at, asked in a job; run as a script, which leaves the answers in its working directory."""

from __future__ import annotations

FRESH = {
    # how it was called
    "sys.argv": "[sys.argv[0] == __file__, sys.argv[1:]]",
    "argv that a module took": "[noted.argv is sys.argv, noted.argv[1:], noted.program]",
    "sys.orig_argv": "[sys.orig_argv[0] == sys.executable, sys.orig_argv[1:] == sys.argv]",
    "sys.path": "[sys.path[0] == os.path.dirname(__file__), sys.path[1:]]",
    "sys.path_hooks": "[one.__qualname__ for one in sys.path_hooks]",
    "sys.meta_path": "[repr(one) for one in sys.meta_path if 'Distutils' not in repr(one)]",
    "the path's own folder is looked at anew": "sys.path[0] in sys.path_importer_cache and noted.late()",
    "__main__": "[__name__, sorted(FIRST), sys.modules['__main__'].__dict__ is globals(), __doc__ and __doc__[:20]]",
    "__main__'s attributes": "[FIRST['__spec__'], FIRST['__package__'], FIRST['__cached__'], FIRST['__annotations__']]",
    "__builtins__": "[type(__builtins__).__name__, __builtins__ is __import__('builtins'), sorted(vars(__builtins__))]",
    "__loader__": "[type(__loader__).__name__, __loader__.name, __loader__.path == __file__]",
    "modules of ours": "sorted(name for name in MODULES if name.split('.')[0] in ('backends', 'definitions', 'benchmarking', 'launch'))",
    "modules beside those preloaded": "sorted({*MODULES} - {*noted.MODULES} - {'noted', 'outrider_report', '_socket', 'gc'})",
    "sys.flags": "repr(sys.flags)",
    "options": "[sys.warnoptions, sorted(sys._xoptions), sys.dont_write_bytecode, sys.pycache_prefix]",
    "installation": "[sys.executable, sys.prefix, sys.base_prefix, sys.exec_prefix, sys.version, site.ENABLE_USER_SITE]",
    # the process
    "os.getpid": "os.getpid() == int(os.readlink('/proc/self'))",
    "os.getppid": "[os.getppid() == int(status('PPid')), os.getppid() == int(os.environ['TEST_CONTROLLER'])]",
    "a pid that a module noted": "[noted.PID == os.getpid(), noted._own_pid == os.getpid()]",
    "session and group": "[os.getsid(0) == os.getpid(), os.getpgrp() == os.getpid(), terminal()]",
    "cwd": "[os.getcwd() == os.path.realpath('/proc/self/cwd'), os.path.basename(os.getcwd())]",
    "a folder that a module noted": "[noted.FOLDER == os.getcwd(), str(noted.PLACE) == os.getcwd()]",
    "umask": "[oct(os.umask(0o22)), oct(os.umask(0o22))]",
    "priority": "[os.nice(0), os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0), os.sched_getparam(0).sched_priority]",
    "cores": "[sorted(os.sched_getaffinity(0)), status('Cpus_allowed_list')]",
    "limits": "{name: resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name.startswith('RLIMIT')}",
    "rights": "[status(name) for name in ('Uid', 'Gid', 'Groups', 'CapEff', 'CapBnd', 'NoNewPrivs', 'Seccomp')]",
    "memory policy": "[taken_first(), open('/proc/self/personality').read()]",
    "its name": "[open('/proc/self/comm').read(), os.readlink('/proc/self/exe')]",
    "children": "[open(f'/proc/self/task/{os.getpid()}/children').read(), no_child()]",
    "namespaces": "sorted(os.readlink(f'/proc/self/ns/{name}') for name in os.listdir('/proc/self/ns'))",
    # time
    "processor time is its own": "time.process_time() < noted.IMPORT_S + 2.0",
    "processor time of children": "[resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime, os.times()[2:4]]",
    "timers": "[signal.getitimer(one) for one in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)]",
    "time zone": "[time.tzname, time.timezone]",
    # descriptors and streams
    "descriptors": "sorted(int(name) for name in os.listdir('/proc/self/fd'))[:-1]",
    "what they are": "[os.readlink(f'/proc/self/fd/{one}')[:6] for one in range(3)]",
    "their flags": "[[fcntl.fcntl(one, fcntl.F_GETFL), fcntl.fcntl(one, fcntl.F_GETFD)] for one in range(3)]",
    "stdin": "[sys.stdin.read(), sys.stdin.isatty(), sys.stdin.encoding, sys.stdin.errors, sys.stdin is sys.__stdin__]",
    "stdout": "stream(sys.stdout) + [sys.stdout is sys.__stdout__]",
    "stderr": "stream(sys.stderr) + [sys.stderr is sys.__stderr__]",
    # environment and words
    "os.environ": "{name: value for name, value in os.environ.items() if name not in PLACES}",
    "environment that children get": "dict(word.split('=', 1) for word in child_environment() if word.split('=')[0] not in PLACES)",
    "environment that a module took": "[noted.environ is os.environ, noted.environ.get('MINE')]",
    "locale": "[locale.setlocale(locale.LC_ALL), locale.getpreferredencoding(), sys.getfilesystemencoding()]",
    # signals
    "signal handlers": "[repr(signal.getsignal(number)) for number in sorted(signal.valid_signals())]",
    "signals as the kernel tells": "[status(name) for name in ('SigBlk', 'SigIgn', 'SigCgt', 'SigPnd', 'ShdPnd')]",
    "wake-up descriptor": "signal.set_wakeup_fd(-1)",
    "faulthandler": "faulthandler.is_enabled()",
    # threads
    "threads": "[threading.active_count(), len(os.listdir('/proc/self/task')), len(threading._dangling)]",
    "main thread": "[threading.current_thread() is threading.main_thread(), threading.main_thread().name, threading.main_thread().daemon]",
    "its numbers": "[threading.main_thread().ident == threading.get_ident(), threading.main_thread().native_id == os.getpid()]",
    "hooks of threads": "[threading.excepthook is threading.__excepthook__, threading.gettrace(), threading.stack_size()]",
    # the interpreter
    "limits of the interpreter": "[sys.getrecursionlimit(), sys.getswitchinterval(), sys.get_int_max_str_digits()]",
    "hooks": "[sys.excepthook is sys.__excepthook__, sys.displayhook is sys.__displayhook__, sys.unraisablehook is sys.__unraisablehook__]",
    "tracing": "[sys.gettrace(), sys.getprofile(), tracemalloc.is_tracing(), list(sys.get_asyncgen_hooks()), hasattr(sys, 'last_value')]",
    "gc": "[gc.isenabled(), gc.get_threshold(), gc.get_debug(), gc.callbacks, gc.garbage]",
    "atexit": "atexit._ncallbacks()",
    "warnings": "[repr(one) for one in warnings.filters]",
    "hash": "[sys.flags.hash_randomization, hash(1), hash(float('inf')), sys.hash_info.width]",
    "decimal": "repr(decimal.getcontext())",
    # what modules of the standard library noted
    "logging": "[logging.root.handlers, logging.root.level, len(logging._handlers), sorted(logging.root.manager.loggerDict)]",
    "logging's start": "began() - 0.05 < logging._startTime <= time.time()",
    "multiprocessing": "[multiprocessing.get_start_method(True), multiprocessing.parent_process(), multiprocessing.active_children()]",
    "its process": "[multiprocessing.current_process().name, multiprocessing.current_process().pid == os.getpid()]",
    "its folder": "multiprocessing.process.ORIGINAL_DIR == os.getcwd()",
    "tempfile": "[tempfile.tempdir, tempfile._name_sequence, tempfile.gettempdir()]",
    "asyncio": "[asyncio.events._event_loop_policy, asyncio._get_running_loop(), asyncio.run(asyncio.sleep(0, 7))]",
    "socket": "socket.getdefaulttimeout()",
    "subprocess": "[subprocess._active, subprocess.run([sys.executable, '-c', 'print(7)'], capture_output=True).stdout.decode()]",
    "concurrent.futures": "[len(concurrent.futures.thread._threads_queues), concurrent.futures.thread._shutdown]",
    "linecache": "sorted(linecache.cache)",
}
"""Name -> expression; equal in a forked job and in one that was started anew."""

DIFFERENT_EACH_TIME = {
    "random": "random.random()",
    "numpy.random": "float(numpy.random.random())",
    "a new generator of numpy": "float(numpy.random.default_rng().random())",
    "uuid": "str(uuid.uuid4())",
    "secrets": "secrets.token_hex(8)",
    "ssl": "ssl.RAND_bytes(8).hex()",
    "tempfile": "os.path.basename(tempfile.mkdtemp(dir='.'))",
    "multiprocessing's key": "bytes(multiprocessing.current_process().authkey).hex()",
}
"""Name -> expression; different in each of two forked jobs."""

CANNOT_BE_FRESH = {
    "command line": "open('/proc/self/cmdline').read().split(chr(0))[1].endswith('zygote.py')",
    "environ as others see it": "'OUTRIDER_JOB=' in open('/proc/self/environ').read()",
    "frozen objects": "gc.get_freeze_count() > 0",
    "preloaded modules": "'decimal' in MODULES",
    "frames below the script": "len(inspect.stack()) > 2",
    "seed of hashes": "hash('outrider') == noted.HASH",
}
"""Name -> expression; what a forked job tells, and a new interpreter would not: docs/calling.md says why."""

MODULES_ASKED = (
    "asyncio atexit concurrent.futures.thread decimal faulthandler fcntl gc inspect json linecache locale logging multiprocessing numpy os "
    "random resource secrets signal site socket ssl subprocess tempfile threading time tracemalloc uuid warnings"
)

NOTED = """
import os, pathlib, sys, time
began = time.process_time()
import {imports}
from os import environ
from sys import argv
PID = _own_pid = os.getpid()
FOLDER, PLACE = os.getcwd(), pathlib.Path.cwd()
HASH = hash('outrider')
program = os.path.basename(argv[0])
MODULES = [*sys.modules]
IMPORT_S = time.process_time() - began

def late():
    with open(os.path.join(os.path.dirname(__file__), 'late_' + str(os.getpid()) + '.py'), 'w') as file:
        file.write('VALUE = 7')
    return __import__('late_' + str(os.getpid())).VALUE
"""
"""A module that notes what it can of the process that imports it."""

SCRIPT = """
FIRST = dict(globals())
import sys
MODULES = [*sys.modules]
import time
import noted
import {imports}
PLACES = ('OUTRIDER_LEASES', 'SM_MODEL_DIR', 'SM_OUTPUT_DATA_DIR', 'OUTRIDER_CONTROLLER', 'PWD', 'TEST_FOLDER')

def status(name):
    return dict(line.rstrip().split(':\\t', 1) for line in open('/proc/self/status') if ':\\t' in line)[name]

def stream(one):
    facts = [one.encoding, one.errors, one.newlines, one.line_buffering, one.write_through, one.isatty(), one.name, one.mode, one.fileno()]
    return facts + [type(one.buffer).__name__]

def terminal():
    try:
        return os.open('/dev/tty', os.O_RDONLY)
    except OSError as error:
        return error.errno

def no_child():
    try:
        return os.waitpid(-1, os.WNOHANG)
    except OSError as error:
        return error.errno

def taken_first():
    # The controller says it of a process that it has started, which by then may be here.
    give_up_at = time.monotonic() + 90
    while (score := open('/proc/self/oom_score_adj').read()) != '800\\n' and time.monotonic() < give_up_at:
        time.sleep(0.01)
    return score

def began():
    ticks = int(open('/proc/self/stat').read().rsplit(')', 1)[1].split()[19])
    return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + ticks / os.sysconf('SC_CLK_TCK')

def child_environment():
    return subprocess.run(['env', '-0'], capture_output=True, check=True).stdout.decode().strip(chr(0)).split(chr(0))

found = {{}}
for name, expression in json.loads({asked!r}).items():
    try:
        found[name] = repr(eval(expression))
    except Exception as error:
        found[name] = repr(error)
with open('answers.json', 'w') as file:
    json.dump(found, file)
from outrider_report import report
report(asked=len(found))
"""
