/** Upgrade of this machine: what the user sees, and the checks before the first step. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { readInstalled } from '../../installation/machine-facts.ts';
import { executablePath } from '../../installation/plan/install-plan.ts';
import { type Installed, recordFile } from '../../installation/plan/installed.ts';
import {
  describeUpgradeStep,
  type Executable,
  hasControlPlane,
  interruptedAt,
  type UpgradeRequest,
  upgradePlan,
} from '../../installation/plan/upgrade-plan.ts';
import {
  examine,
  keptPath,
  replacedPath,
  runningDigest,
  runUpgrade,
  stage,
} from '../../installation/upgrade.ts';
import { systemExec } from '../../os/exec.ts';
import { confirmed } from '../confirmation.ts';

const say = (text: string) => process.stdout.write(`${text}\n`);

export interface HereOptions {
  readonly path: string;
  readonly digest: string | undefined;
  readonly allowsDowngrade: boolean;
  readonly backsUp: boolean;
  readonly timeoutMs: number;
  readonly dryRun: boolean;
  readonly yes: boolean;
}

/** Upgrades this machine. Resolves to the executable that is installed then, or would be. */
export async function upgradeHere(installed: Installed, options: HereOptions): Promise<Executable> {
  const { staged, ...next } = await stage(systemExec, options.path, options.digest);
  try {
    const { allowsDowngrade, backsUp, timeoutMs } = options;
    const goesBack = options.path === keptPath;
    const request: UpgradeRequest = {
      ...{ next, allowsDowngrade, backsUp, timeoutMs, goesBack },
      ...(await currentOf(next, goesBack)),
    };
    const { current } = request;
    const steps = upgradePlan(installed, request);
    say(`${options.path}: minik8s ${next.version}, sha256 ${next.sha256}`);
    if (steps.length === 0) {
      say(`minik8s ${next.version} is installed already: nothing to do`);
      return next;
    }
    say(
      [
        `minik8s upgrade from ${current.version} to ${next.version}:`,
        ...steps.map((step) => `  ${describeUpgradeStep(step)}`),
      ].join('\n'),
    );
    if (options.dryRun) return next;
    if (!options.yes) await confirm();
    await runUpgrade({ exec: systemExec, installed, request, staged, say }, steps);
    say(
      `minik8s ${next.version} runs; the previous file is ${keptPath}, and minik8s upgrade --back installs it again`,
    );
    if (hasControlPlane(installed.role) && !backsUp) say('no backup was created');
    return next;
  } finally {
    await rm(staged, { force: true });
  }
}

/** Resolves to the installed executable; after an interrupted upgrade to `next`, to the one that was kept. */
async function currentOf(
  next: Executable,
  goesBack: boolean,
): Promise<Pick<UpgradeRequest, 'current' | 'interrupted'>> {
  const current = await examine(systemExec, executablePath);
  const kept = goesBack ? replacedPath : keptPath;
  const isKept = existsSync(kept);
  const running = await runningDigest(systemExec);
  const interrupted = interruptedAt(current.sha256, next.sha256, running, goesBack && isKept);
  if (interrupted === undefined) return { current };
  return { current: isKept ? await examine(systemExec, kept) : current, interrupted };
}

/** Rejects unless minik8s is an installed service here. */
export async function requireInstalled(): Promise<Installed> {
  const installed = await readInstalled();
  if (installed?.started !== undefined) return installed;
  throw new Error(
    `minik8s is not installed as a service here (${recordFile}): replace its file and start it again by hand; its pods keep running`,
  );
}

/** Rejects unless the user agrees. */
export async function confirm(): Promise<void> {
  const otherwise =
    'upgrade asks before it replaces the file, but standard input is not a terminal; give --yes to replace it';
  if (!(await confirmed('Do this?', otherwise))) throw new Error('nothing was changed');
}
