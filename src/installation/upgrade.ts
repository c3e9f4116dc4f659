/** Carries out an upgrade of this machine. */
import { chmod, copyFile, link, open, rename, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { errorMessage } from '../base/log.ts';
import { type Exec, ExecError } from '../os/exec.ts';
import { troubleAt } from '../os/file-trouble.ts';
import { draftOf, removeLeftDrafts } from '../os/replace-file.ts';
import { carryOut } from './carry-out.ts';
import { digestOfFile } from './machine-facts.ts';
import { executablePath, recordStep } from './plan/install-plan.ts';
import type { Installed } from './plan/installed.ts';
import {
  afterFailure,
  describeUpgradeStep,
  type Executable,
  executableProblem,
  isVersion,
  type UpgradeRequest,
  type UpgradeStep,
} from './plan/upgrade-plan.ts';
import { controlHere } from './services.ts';

/** The executable that was installed before; `minik8s upgrade --back` installs it again. */
export const keptPath = `${executablePath}.old`;
/** The executable that `minik8s upgrade --back` replaces, until the service runs the former one. */
export const replacedPath = `${executablePath}.replaced`;

/** Timeout in milliseconds of a command that only prints. */
const printMs = 30_000;

/** Returns the environment of a command of an executable, without settings of another cluster. */
const ownEnvironment = (): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('MINIK8S_')));

/**
 * Copies a file beside the installed executable and examines the copy, which is then the file that is
 * installed: the original may change meanwhile. `digest`: SHA-256 digest that it must have. Rejects with an
 * error that names `path`; the copy is removed then.
 */
export async function stage(
  exec: Exec,
  path: string,
  digest: string | undefined,
): Promise<Executable & { readonly staged: string }> {
  await removeLeftDrafts(dirname(executablePath), basename(executablePath));
  const staged = draftOf(executablePath);
  try {
    await copyFile(path, staged).catch((error) => {
      const trouble = troubleAt(executablePath, error);
      if (trouble !== error) throw trouble;
      throw new Error(`${path} cannot be read: ${errorMessage(error)}`, { cause: error });
    });
    // The copy must not run before its digest is checked.
    const sha256 = await digestOfFile(staged);
    if (digest !== undefined && digest.toLowerCase() !== sha256)
      throw new Error(
        `${path} has the SHA-256 digest ${sha256}, not the one of --sha256: get the file again`,
      );
    const problem = executableProblem(await headOf(staged), process.arch);
    if (problem !== undefined) throw new Error(`${path} ${problem}`);
    await chmod(staged, 0o755);
    const executable = await examine(exec, staged).catch((error) => {
      throw new Error(`${path} is no executable of minik8s: ${errorMessage(error)}`, { cause: error });
    });
    return { ...executable, staged };
  } catch (error) {
    await rm(staged, { force: true });
    throw error;
  }
}

async function headOf(path: string): Promise<Uint8Array> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(20), 0, 20, 0);
  return buffer.subarray(0, bytesRead);
}

/** Runs the executable's command `version`. Rejects if it prints no version. */
export async function examine(exec: Exec, path: string): Promise<Executable> {
  const options = { timeoutMs: printMs, env: ownEnvironment() };
  const { stdout } = await exec(path, ['version'], options);
  const version = stdout.trim();
  if (!isVersion(version)) throw new Error('its command "version" prints no version');
  const sha256 = await digestOfFile(path);
  if (sha256 === undefined) throw new Error('it does not exist any more');
  // Executables without formats of data reject the flag, or ignore it.
  const format = await exec(path, ['version', '--data-format'], options).catch((error) => {
    if (error instanceof ExecError) return { stdout: '0' };
    throw error;
  });
  return { version, sha256, dataFormat: /^\d+\s*$/.test(format.stdout) ? Number(format.stdout) : 0 };
}

export interface UpgradeRun {
  readonly exec: Exec;
  readonly installed: Installed;
  readonly request: UpgradeRequest;
  /** Path of the checked copy of the new executable. */
  readonly staged: string;
  /** Called before each step, with a line about it. */
  readonly say: (line: string) => void;
}

/**
 * Carries out the steps. If one fails, carries out the steps that lead back, and rejects with an error that
 * says what failed and what is installed now.
 */
export async function runUpgrade(run: UpgradeRun, steps: readonly UpgradeStep[]): Promise<void> {
  for (const step of steps) {
    run.say(describeUpgradeStep(step));
    try {
      await effects[step.kind](run, step as never);
    } catch (error) {
      throw await goBack(run, step, error);
    }
  }
}

async function goBack(run: UpgradeRun, failed: UpgradeStep, cause: unknown): Promise<Error> {
  const { installed, request, say } = run;
  const { current, next, goesBack = false } = request;
  const { version } = current;
  const what = `${describeUpgradeStep(failed)}: ${errorMessage(cause)}`;
  try {
    for (const step of afterFailure(failed.kind, installed, request)) {
      say(`going back: ${describeUpgradeStep(step)}`);
      await effects[step.kind](run, step as never);
    }
  } catch (error) {
    return new Error(
      `${what}; going back to ${version} failed too (${errorMessage(error)}): the former file is ${goesBack ? replacedPath : keptPath}; minik8s status shows the service`,
      { cause },
    );
  }
  if (failed.kind === 'rename-replaced')
    return new Error(`${what}; ${next.version} is installed and runs: run minik8s upgrade --back again`, {
      cause,
    });
  return new Error(`${what}; ${version} is installed and runs, as before`, { cause });
}

type Effects = {
  readonly [K in UpgradeStep['kind']]: (
    run: UpgradeRun,
    step: Extract<UpgradeStep, { kind: K }>,
  ) => Promise<void>;
};

const noWarning = () => undefined;

const effects: Effects = {
  async 'back-up'({ exec, say }) {
    const { stdout } = await exec(executablePath, ['backup', 'create'], {
      lengthy: true,
      env: ownEnvironment(),
    });
    say(`  ${stdout.trim()}`);
  },
  async 'keep-old'(run) {
    await keepAs(run, keptPath);
    // A return that was interrupted, and not continued, has left it.
    await rm(replacedPath, { force: true });
  },
  'keep-replaced': (run) => keepAs(run, replacedPath),
  stop: ({ exec }) => controlHere().stopBeforeStart(exec),
  async 'lower-data'({ exec, say }, { format }) {
    const { stdout } = await exec(executablePath, ['upgrade', '--data-format', String(format)], {
      lengthy: true,
      env: ownEnvironment(),
    });
    if (stdout.trim()) say(`  ${stdout.trim()}`);
  },
  async replace({ staged }) {
    await moveTo(staged, executablePath);
  },
  async 'put-back'(_, { kept }) {
    await linkTo(kept === 'old' ? keptPath : replacedPath, executablePath);
    await syncFolderOf(executablePath);
  },
  async 'rename-replaced'() {
    await moveTo(replacedPath, keptPath);
  },
  async restart({ exec }, { timeoutMs }) {
    await controlHere().restart(exec, timeoutMs);
  },
  async verify({ exec }, { expected }) {
    const control = controlHere();
    const state = await control.state(exec);
    if (state !== 'active') throw new Error(`the service is ${state}`);
    if ((await runningDigest(exec)) !== expected.sha256)
      throw new Error('the service runs another executable');
  },
};

/** Gives the installed executable a second name, which the record then has. */
async function keepAs({ exec, installed }: UpgradeRun, path: string): Promise<void> {
  const created = [...new Set([...installed.created, path])];
  await carryOut(exec, recordStep({ ...installed, created }), noWarning);
  await linkTo(executablePath, path);
}

/** Resolves to the digest of the executable that the service runs; undefined if it does not run. */
export async function runningDigest(exec: Exec): Promise<string | undefined> {
  const pid = await controlHere().mainProcess(exec);
  return pid === undefined ? undefined : digestOfFile(`/proc/${pid}/exe`);
}

/** Gives a file a second name, in place of the file that has the name now. */
export async function linkTo(from: string, path: string): Promise<void> {
  await removeLeftDrafts(dirname(path), basename(path));
  const draft = draftOf(path);
  await link(from, draft);
  try {
    await rename(draft, path);
  } finally {
    // A rename between two names of one file does nothing.
    await rm(draft, { force: true });
  }
}

/** Renames a file to a path on the same file system, atomically and on disk. */
async function moveTo(from: string, path: string): Promise<void> {
  {
    await using file = await open(from);
    await file.sync();
  }
  await rename(from, path);
  await syncFolderOf(path);
}

async function syncFolderOf(path: string): Promise<void> {
  await using directory = await open(dirname(path));
  await directory.sync();
}
