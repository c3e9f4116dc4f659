import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cgroupChecks } from '../../../../src/doctor/checks/cgroup.ts';
import { linesOf, observe } from '../../../fixtures/situation.ts';

describe('checks of control groups', () => {
  for (const version of [1, 2] as const)
    it(`name version ${version}`, () =>
      assert.deepEqual(linesOf(observe(cgroupChecks, 'cgroup-version', { version, controllers: [] })), [
        `ok: cgroup v${version}`,
      ]));

  it('require the controllers of limits', () => {
    const with_ = (...controllers: string[]) =>
      linesOf(observe(cgroupChecks, 'cgroup-controllers', { version: 2, controllers }));
    assert.deepEqual(with_('pids', 'memory', 'cpu', 'io'), ['ok: controllers cpu, memory, pids']);
    assert.deepEqual(with_('cpu', 'pids'), [
      `fault: no controller memory # sed -i 's/^GRUB_CMDLINE_LINUX="/&cgroup_enable=memory /' /etc/default/grub && update-grub && reboot`,
    ]);
    assert.match(
      with_()[0] ?? '',
      /no controller cpu, memory, pids .*cgroup_enable=cpu cgroup_enable=memory/,
    );
  });
});
