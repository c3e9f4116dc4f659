/** `minik8s upgrade`: replaces the installed file by another version, here and on the nodes. */
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { defineCommand } from 'citty';
import { stopSignal } from '../base/abort.ts';
import { UsageError } from '../base/usage-error.ts';
import { readInstalled } from '../installation/machine-facts.ts';
import { executablePath } from '../installation/plan/install-plan.ts';
import { type Installed, recordFile } from '../installation/plan/installed.ts';
import {
  describeUpgradeStep,
  hasControlPlane,
  type UpgradeRequest,
  upgradePlan,
} from '../installation/plan/upgrade-plan.ts';
import { examine, keptPath, runUpgrade, stage } from '../installation/upgrade.ts';
import { systemExec } from '../os/exec.ts';
import { duration } from '../settings/duration.ts';
import { flagHeadings } from '../settings/subjects.ts';
import { confirmed } from './confirmation.ts';
import { addSystemPrograms } from './install/system-programs.ts';
import { requireRoot } from './preflight.ts';
import { lowerStoredData } from './upgrade/stored-data.ts';

const shown = (name: keyof typeof flagHeadings, description: string, usual: string) => ({
  description,
  usual,
  group: flagHeadings[name],
});

const usualTimeout = '5m';

const args = {
  file: {
    type: 'string',
    valueHint: 'FILE',
    ...shown('file', 'file of minik8s to install', 'the installed one'),
  },
  back: { type: 'boolean', ...shown('back', 'install the file that was installed before', 'install --file') },
  sha256: {
    type: 'string',
    valueHint: 'DIGEST',
    ...shown('sha256', 'SHA-256 digest that the file must have', 'any'),
  },
  'allow-downgrade': {
    type: 'boolean',
    ...shown('allow-downgrade', 'install an older version too', 'refuse'),
  },
  backup: { type: 'boolean', default: true, ...shown('backup', 'create a backup before', 'on') },
  timeout: {
    type: 'string',
    valueHint: 'DURATION',
    ...shown('timeout', 'time for the service, and for each node, to be ready', usualTimeout),
  },
  'data-format': {
    type: 'string',
    valueHint: 'FORMAT',
    ...shown(
      'data-format',
      'take the data of a stopped master back to this format, and nothing else',
      'none',
    ),
  },
  'dry-run': { type: 'boolean', ...shown('dry-run', 'print what would be done, and do nothing', 'do it') },
  yes: { type: 'boolean', alias: 'y', ...shown('yes', 'do not ask', 'ask') },
} as const;

const say = (text: string) => process.stdout.write(`${text}\n`);

export const command = defineCommand({
  meta: { description: 'install another version of minik8s, and restart the service with it' },
  args,
  async run({ args: given }) {
    requireRoot();
    addSystemPrograms(process.env);
    const signal = stopSignal();
    if (given['data-format'] !== undefined)
      return lowerStoredData(formatOf(given['data-format']), (line) => say(line), signal);
    const timeoutMs = timeoutOf(given.timeout ?? usualTimeout);
    await upgradeHere({
      path: pathOf(given.file, given.back === true),
      digest: given.sha256,
      allowsDowngrade: given.back === true || given['allow-downgrade'] === true,
      backsUp: given.backup !== false,
      timeoutMs,
      dryRun: given['dry-run'] === true,
      yes: given.yes === true,
    });
  },
});

function formatOf(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new UsageError(`--data-format: expected a number, not "${text}"`);
}

function timeoutOf(text: string): number {
  try {
    return duration('1s', '1h')(text);
  } catch (error) {
    throw new UsageError(`--timeout: ${(error as Error).message}`);
  }
}

function pathOf(file: string | undefined, back: boolean): string {
  if (back && file !== undefined) throw new UsageError('--back and --file exclude each other: give one');
  if (back) return keptPath;
  if (file === undefined)
    throw new UsageError('give the file of the new version (--file FILE), or --back for the one before');
  return resolve(file);
}

interface HereOptions {
  readonly path: string;
  readonly digest: string | undefined;
  readonly allowsDowngrade: boolean;
  readonly backsUp: boolean;
  readonly timeoutMs: number;
  readonly dryRun: boolean;
  readonly yes: boolean;
}

/** Upgrades this machine. */
async function upgradeHere(options: HereOptions): Promise<void> {
  const installed = await requireInstalled();
  const { staged, ...next } = await stage(systemExec, options.path);
  try {
    requireDigest(options, next.sha256);
    const current = await examine(systemExec, executablePath);
    const { allowsDowngrade, backsUp, timeoutMs } = options;
    const request: UpgradeRequest = { current, next, allowsDowngrade, backsUp, timeoutMs };
    const steps = upgradePlan(installed, request);
    say(`${options.path}: minik8s ${next.version}, sha256 ${next.sha256}`);
    if (steps.length === 0) {
      say(`minik8s ${next.version} is installed already: nothing to do`);
      return;
    }
    say(
      [
        `minik8s upgrade from ${current.version} to ${next.version}:`,
        ...steps.map((step) => `  ${describeUpgradeStep(step)}`),
      ].join('\n'),
    );
    if (options.dryRun) return;
    if (!options.yes) await confirm();
    await runUpgrade({ exec: systemExec, installed, request, staged, say }, steps);
    say(
      `minik8s ${next.version} runs; the file before is ${keptPath}, and minik8s upgrade --back installs it again`,
    );
    if (hasControlPlane(installed.role) && !backsUp) say('no backup was created');
  } finally {
    await rm(staged, { force: true });
  }
}

async function requireInstalled(): Promise<Installed> {
  const installed = await readInstalled();
  if (installed?.started !== undefined) return installed;
  throw new Error(
    `minik8s is not installed as a service here (${recordFile}): replace its file and start it again by hand; its pods go on`,
  );
}

function requireDigest({ path, digest }: HereOptions, sha256: string): void {
  if (digest === undefined || digest.toLowerCase() === sha256) return;
  throw new Error(`${path} has the SHA-256 digest ${sha256}, not the one of --sha256: get the file again`);
}

/** Rejects unless the user agrees. */
async function confirm(): Promise<void> {
  const otherwise =
    'upgrade asks before it replaces the file, but standard input is not a terminal; give --yes to replace it';
  if (!(await confirmed('Do this?', otherwise))) throw new Error('nothing was changed');
}
