/** `minik8s uninstall`: undoes what `minik8s install` has done on this machine. */
import { existsSync } from 'node:fs';
import { defineCommand } from 'citty';
import { carryOut } from '../installation/carry-out.ts';
import { lookAtAll, readInstalled, readSysctls } from '../installation/machine-facts.ts';
import { configDirectory } from '../installation/plan/install-plan.ts';
import { recordFile } from '../installation/plan/installed.ts';
import { describeStep } from '../installation/plan/step.ts';
import { dropInDirectory } from '../installation/plan/systemd-unit.ts';
import { leftoverPlan, uninstallPlan } from '../installation/plan/uninstall-plan.ts';
import { serviceManagerHere } from '../installation/services.ts';
import { requireWritablePlaces } from '../installation/writable-places.ts';
import { systemExec } from '../os/exec.ts';
import { flagHeadings } from '../settings/subjects.ts';
import { confirmed } from './confirmation.ts';
import { claimInstallation } from './install/one-installation.ts';
import { addSystemPrograms } from './install/system-programs.ts';
import { requireRoot } from './preflight.ts';

export const command = defineCommand({
  meta: { description: 'remove what minik8s install made on this machine, with its pods and data' },
  ...{
    examples: [
      'uninstall # ask, and remove everything',
      'uninstall --yes --keep-data # do not ask, and keep the data',
    ],
  },
  args: {
    yes: {
      type: 'boolean',
      alias: 'y',
      ...{ description: 'do not ask', usual: 'ask', group: flagHeadings.yes },
    },
    'keep-data': {
      type: 'boolean',
      ...{
        description: 'keep the data directory and the configuration file',
        usual: 'remove them',
        group: flagHeadings['keep-data'],
      },
    },
  },
  async run({ args }) {
    requireRoot();
    addSystemPrograms(process.env);
    const release = await claimInstallation();
    try {
      await uninstall({ yes: args.yes === true, keepsData: args['keep-data'] === true });
    } finally {
      await release();
    }
  },
});

interface Flags {
  readonly yes: boolean;
  readonly keepsData: boolean;
}

async function uninstall({ yes, keepsData }: Flags): Promise<void> {
  const installed = await readInstalled();
  if (installed === undefined) {
    await removeLeftover();
    return;
  }
  const found = await lookAtAll(installed.role, [...installed.created, installed.dataDir]);
  const machine = { found, sysctls: await readSysctls(), serviceManager: serviceManagerHere() };
  const steps = uninstallPlan(machine, installed, keepsData);
  const lines = steps.map(describeStep).filter((line) => line !== undefined);
  process.stdout.write(`minik8s uninstall:\n${lines.map((line) => `  ${line}\n`).join('')}`);
  if (!yes) await confirm();
  await requireWritablePlaces(steps);
  for (const step of steps) await carryOut(systemExec, step, warn);
  const { packages } = installed;
  if (packages.length > 0)
    process.stdout.write(`left, since other programs may use them: the packages ${packages.join(', ')}\n`);
  if (existsSync(dropInDirectory))
    process.stdout.write(`left, since minik8s did not write it: ${dropInDirectory}\n`);
}

/** Removes the empty directory of a command that was killed; rejects if there is none. */
async function removeLeftover(): Promise<void> {
  const steps = leftoverPlan(await lookAtAll('up'));
  if (steps.length === 0)
    throw new Error(
      `minik8s is not installed here: there is no ${recordFile}; to remove a cluster that was started without an installation, run minik8s reset`,
    );
  await requireWritablePlaces(steps);
  for (const step of steps) await carryOut(systemExec, step, warn);
  process.stdout.write(`minik8s uninstall:\n  removed ${configDirectory}, which was empty\n`);
}

const warn = (message: string) => process.stderr.write(`warning: ${message}\n`);

/** Rejects unless the user agrees. */
async function confirm(): Promise<void> {
  const otherwise =
    'uninstall asks for confirmation, but standard input is not a terminal; give --yes to remove everything';
  if (!(await confirmed('Do this?', otherwise))) throw new Error('nothing was removed');
}
