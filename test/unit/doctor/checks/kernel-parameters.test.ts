import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ParameterFacts, parameterChecks } from '../../../../src/doctor/checks/kernel-parameters.ts';
import { linesOf, observe } from '../../../fixtures/situation.ts';

const values = (forward: string, instances: string, watches = '65536') =>
  new Map([
    ['net.ipv4.ip_forward', forward],
    ['fs.inotify.max_user_instances', instances],
    ['fs.inotify.max_user_watches', watches],
  ]);
const at = (name: string, facts: Partial<ParameterFacts>, pid?: number) =>
  linesOf(
    observe(
      parameterChecks,
      name,
      { values: values('1', '1024'), ...facts },
      pid === undefined ? {} : { pid },
    ),
  );

describe('checks of kernel parameters', () => {
  it('accept the values that an installation writes', () =>
    assert.deepEqual(at('sysctls', {}), [
      'ok: net.ipv4.ip_forward = 1',
      'ok: fs.inotify.max_user_instances = 1024',
    ]));

  it('advise setting a value that is too low', () =>
    assert.deepEqual(at('sysctls', { values: values('0', '128') }), [
      'fault: net.ipv4.ip_forward = 0 # sysctl -w net.ipv4.ip_forward=1',
      'warning: fs.inotify.max_user_instances = 128 # sysctl -w fs.inotify.max_user_instances=1024',
    ]));

  it('have a change that --fix can make', () => {
    const [forward] = observe(parameterChecks, 'sysctls', { values: values('0', '1024') });
    assert.deepEqual(forward?.fix, { kind: 'sysctl', name: 'net.ipv4.ip_forward', value: '1' });
  });

  it('note parameters that the kernel does not have', () => {
    assert.deepEqual(
      at('sysctls', { values: new Map() }).map((line) => line.split(':')[0]),
      ['note', 'note'],
    );
    assert.deepEqual(at('inotify-watches', { values: new Map() }), [
      'note: the kernel has no parameter fs.inotify.max_user_watches',
    ]);
    assert.deepEqual(at('open-files', {}), ['note: the number of open files is not known']);
  });

  it('advise raising a low limit of watches', () => {
    assert.deepEqual(at('inotify-watches', { values: values('1', '1024', '65536') }), [
      'ok: fs.inotify.max_user_watches = 65536',
    ]);
    assert.deepEqual(at('inotify-watches', { values: values('1', '1024', '8192') }), [
      'warning: fs.inotify.max_user_watches = 8192 # sysctl -w fs.inotify.max_user_watches=524288',
    ]);
  });
});

describe('checks of open files', () => {
  it('warn near the limit of the machine', () => {
    const of = (count: number, max: number) => at('open-files', { openFiles: { count, max } });
    assert.deepEqual(of(799, 1000), ['ok: 799 of 1000 open files of the machine']);
    assert.deepEqual(of(800, 1000), [
      'warning: 800 of 1000 open files of the machine # sysctl -w fs.file-max=2000',
    ]);
    assert.deepEqual(of(5, 2 ** 63), ['ok: 5 open files of the machine, without a limit']);
  });

  it('warn about a low limit of the process, and about a number near the limit', () => {
    const of = (count: number, max: number) => at('open-files-of-minik8s', { own: { count, max } }, 42);
    assert.deepEqual(of(100, 8192), ['ok: minik8s has 100 of 8192 open files']);
    assert.deepEqual(of(100, 1024), [
      'warning: minik8s has 100 of 1024 open files # prlimit --pid 42 --nofile=1048576:1048576',
    ]);
    assert.deepEqual(of(900_000, 1_000_000), [
      'warning: minik8s has 900000 of 1000000 open files # prlimit --pid 42 --nofile=2000000:2000000',
    ]);
    assert.deepEqual(at('open-files-of-minik8s', {}), []);
  });
});
