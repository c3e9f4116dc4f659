/** Containers under AppArmor, in the kernel of a virtual machine that has it on. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { waitFor } from '../e2e/harness/wait-for.ts';
import { minutes } from './fresh-machines.ts';
import type { Machine } from './machine.ts';
import { apply, patient, podOf, startOneNode, startPod } from './one-node.ts';

/** A profile of the administrator, which forbids one file to programs that may do anything else. */
const profile = `profile vm-guarded flags=(attach_disconnected) {
  capability,
  network,
  file,
  signal,
  ptrace,
  unix,
  deny /guarded w,
}
`;

const confined = (type: string, localhostProfile?: string) => ({
  securityContext: { appArmorProfile: { type, ...(localhostProfile && { localhostProfile }) } },
});

// The suite's time includes the start of its machine.
describe('containers on a kernel with AppArmor', { timeout: 55 * minutes }, () => {
  let machine: Machine;
  before(
    async () => {
      machine = await startOneNode({ appArmor: true });
      await machine.output(`cat >guarded <<'END'\n${profile}END\napparmor_parser --replace guarded`, patient);
    },
    { timeout: 20 * minutes },
  );
  after(() => machine?.stop());

  const ctl = (command: string) => machine.output(`minik8s ctl ${command}`, patient);
  const profileOf = (pod: string) => ctl(`exec ${pod} -- cat /proc/self/attr/current`);

  it("have the engine's profile, unless their pod forgoes it", async () => {
    await startPod(machine, 'usual', {});
    assert.equal(await profileOf('usual'), 'docker-default (enforce)\n');
    await startPod(machine, 'free', confined('Unconfined'));
    assert.equal(await profileOf('free'), 'unconfined\n');
    await ctl('delete pod usual free');
  });

  it('have the profile of the machine that their pod names, and what it denies fails', async () => {
    await startPod(machine, 'guarded', confined('Localhost', 'vm-guarded'));
    assert.equal(await profileOf('guarded'), 'vm-guarded (enforce)\n');
    await ctl(`exec guarded -- sh -c 'echo x >/other'`);
    const refused = await machine.run(`minik8s ctl exec guarded -- sh -c 'echo x >/guarded'`, patient);
    assert.notEqual(refused.status, 0);
    assert.match(refused.stderr, /Permission denied/);
    await ctl('delete pod guarded');
  });

  it('do not start with a profile that the machine does not have, until it is loaded', async () => {
    await apply(machine, podOf('waiting', confined('Localhost', 'vm-later')));
    const reason = /cannot use AppArmor profile "vm-later": there is no such profile/;
    const events = 'get events --field-selector involvedObject.name=waiting';
    await waitFor('the reason', async () => reason.test(await ctl(events)), patient);
    const load = 'sed s/vm-guarded/vm-later/ guarded >later && apparmor_parser --replace later';
    await machine.output(load, patient);
    await ctl('wait pod/waiting --for=condition=Ready --timeout=300s');
    assert.equal(await profileOf('waiting'), 'vm-later (enforce)\n');
    await ctl('delete pod waiting');
  });
});
