/** An installation, and a removal, that is killed after any step is completed by the same command. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { configDirectory, executablePath } from '../../../../src/installation/plan/install-plan.ts';
import { recordFile } from '../../../../src/installation/plan/installed.ts';
import type { Found, Machine } from '../../../../src/installation/plan/machine.ts';
import { configFileOf, type Role, roles } from '../../../../src/installation/plan/role.ts';
import { afterStart, inSequence } from '../../../../src/installation/plan/sequence.ts';
import { serviceManagers } from '../../../../src/installation/plan/service-manager.ts';
import type { Step } from '../../../../src/installation/plan/step.ts';
import { uninstallPlan } from '../../../../src/installation/plan/uninstall-plan.ts';
import { bare, planOf } from '../../../fixtures/installation.ts';
import { afterStep, afterSteps } from '../../../fixtures/killed-installation.ts';

/** Returns the steps of the command in the order in which it carries them out. */
function installing(machine: Machine, role: Role): readonly Step[] {
  const plan = planOf(machine, { role, linksKubectl: true });
  return [...inSequence(plan), ...afterStart(plan)];
}

const installedOn = (machine: Machine, role: Role) => afterSteps(machine, installing(machine, role));

/** Returns the steps of the command; throws as the command does if there is no record. */
function removing(machine: Machine, keepsData: boolean): readonly Step[] {
  assert.ok(machine.installed, 'without a record, minik8s uninstall rejects');
  return uninstallPlan(machine, machine.installed, keepsData);
}

/** Returns the machine at each kill: before the first step, and after each of them. */
function* kills(machine: Machine, steps: readonly Step[]): Generator<[number, Machine]> {
  let now = machine;
  yield [0, now];
  for (const [index, step] of steps.entries()) {
    now = afterStep(now, step);
    yield [index + 1, now];
  }
}

/** Returns what a user sees of the machine: values that are equal compare as equal. */
const seen = ({ found, sysctls, installed, ...others }: Machine) => ({
  ...others,
  found: [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)),
  sysctls: [...sysctls],
  installed: installed && { ...installed, created: installed.created.toSorted() },
});

/** Returns the machine without what an uninstallation leaves: IP forwarding and loaded modules. */
const withoutLeft = (machine: Machine) => ({
  ...{ ...seen(machine), sysctls: [], unloadedModules: [], missingDirectories: [] },
});

const own: Found = { kind: 'file', text: 'token: mine\n', mode: 0o600 };

for (const serviceManager of serviceManagers)
  for (const role of roles)
    describe(`${role} with ${serviceManager}`, () => {
      const machines: readonly (readonly [string, Machine])[] = [
        ['a bare machine', { ...bare, serviceManager }],
        [
          'a machine with a configuration file of the user',
          {
            ...{ ...bare, serviceManager },
            found: new Map<string, Found>([
              [configDirectory, { kind: 'other' }],
              [configFileOf[role], own],
            ]),
          },
        ],
        [
          'a machine without the directories of the kernel',
          { ...bare, serviceManager, missingDirectories: ['/etc/sysctl.d'] },
        ],
      ];
      for (const [name, machine] of machines) {
        test(`an installation on ${name} that is killed after any step ends as if it had not been`, () => {
          const whole = installedOn(machine, role);
          for (const [count, killed] of kills(machine, installing(machine, role))) {
            const ended = installedOn(killed, role);
            assert.deepEqual(seen(ended), seen(whole), `killed after ${count} steps`);
            assert.deepEqual(installing(ended, role), [], `killed after ${count} steps`);
            const gone = afterSteps(ended, removing(ended, false));
            assert.deepEqual(withoutLeft(gone), withoutLeft(machine), `killed after ${count} steps`);
          }
        });

        test(`a removal from ${name} that is killed after any step leaves nothing once it is repeated`, () => {
          const whole = installedOn(machine, role);
          for (const [count, killed] of kills(whole, removing(whole, false))) {
            const isOver = killed.installed === undefined;
            const ended = isOver ? killed : afterSteps(killed, removing(killed, false));
            const left = [...ended.found.keys()].filter((path) => !machine.found.has(path));
            // The directory of the record is empty then: nothing names it any more.
            const expected = isOver && killed.found.has(configDirectory) ? [configDirectory] : [];
            assert.deepEqual(
              left,
              machine.found.has(configDirectory) ? [] : expected,
              `killed after ${count}`,
            );
            assert.deepEqual(ended.found.get(configFileOf[role]), machine.found.get(configFileOf[role]));
          }
        });

        test(`an installation on ${name} that is killed after any step can be removed at once`, () => {
          for (const [count, killed] of kills(machine, installing(machine, role))) {
            if (killed.installed === undefined) continue;
            const gone = afterSteps(killed, removing(killed, false));
            assert.deepEqual(withoutLeft(gone), withoutLeft(machine), `killed after ${count} steps`);
          }
        });

        test(`a removal with --keep-data from ${name} that is killed after any step can be repeated`, () => {
          const whole = installedOn(machine, role);
          const kept = withoutLeft(afterSteps(whole, removing(whole, true)));
          for (const [count, killed] of kills(whole, removing(whole, true))) {
            const ended = afterSteps(killed, removing(killed, true));
            assert.deepEqual(withoutLeft(ended), kept, `killed after ${count} steps`);
            assert.ok(!ended.found.has(executablePath));
            const all = afterSteps(ended, removing(ended, false));
            assert.deepEqual(withoutLeft(all), withoutLeft(machine), `killed after ${count} steps`);
          }
        });
      }
    });

test('the record is stored before everything that it names but its own directory', () => {
  const steps = inSequence(planOf({ missingDirectories: ['/etc/sysctl.d'] }));
  const at = steps.findIndex((step) => 'path' in step && step.path === recordFile);
  assert.deepEqual(
    steps.slice(0, at).map((step) => ('path' in step ? step.path : step.kind)),
    [configDirectory],
  );
  const again = inSequence(
    planOf({ found: new Map([[configDirectory, { kind: 'other' }]]), missingDirectories: ['/etc/sysctl.d'] }),
  );
  assert.ok(again[0]?.kind === 'write-file' && again[0].path === recordFile);
});
