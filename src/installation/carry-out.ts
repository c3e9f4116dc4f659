/** Performs the steps of an installation, or of its removal. */
import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, open, rename, rm, rmdir, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorMessage } from '../base/log.ts';
import { type Exec, ExecError } from '../os/exec.ts';
import { troubleAt } from '../os/file-trouble.ts';
import { ifThere } from '../os/if-there.ts';
import { draftOf, removeLeftDrafts, replaceFile } from '../os/replace-file.ts';
import { executablePath } from './plan/install-plan.ts';
import { installCommands } from './plan/packages.ts';
import type { Step } from './plan/step.ts';
import { controlOf } from './services.ts';

type Warn = (message: string) => void;

type Effects = {
  readonly [K in Step['kind']]: (exec: Exec, step: Extract<Step, { kind: K }>, warn: Warn) => Promise<void>;
};

/**
 * Resolves when the step is done. Rejects with an Error that says what failed, and with the path of a full or
 * read-only file system. `warn` is called with an error of the kernel's modules and parameters: the start of
 * a node checks what it needs.
 */
export async function carryOut(exec: Exec, step: Step, warn: Warn): Promise<void> {
  try {
    await effects[step.kind](exec, step as never, warn);
  } catch (error) {
    throw 'path' in step ? troubleAt(step.path, error) : error;
  }
}

const effects: Effects = {
  async 'install-packages'(exec, { manager, names }) {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    for (const [program, ...args] of installCommands[manager](names))
      await exec(program, args, { env, lengthy: true });
  },
  async 'make-directory'(_, { path }) {
    await mkdir(path, { mode: 0o755 });
  },
  'copy-file': (_, { from, path }) => copyExecutable(from, path),
  async 'write-file'(_, { path, content, mode }) {
    // A killed writer's draft may hold a token; no later step removes that of a file which is restored.
    await removeLeftDrafts(dirname(path), basename(path));
    await replaceFile(path, content, { mode });
  },
  async 'make-link'(_, { path, target }) {
    await symlink(target, path);
  },
  async 'load-modules'(exec, { names }, warn) {
    await exec('modprobe', ['--all', ...names]).catch((error) => {
      warn(`the kernel modules ${names.join(', ')} were not loaded: ${errorMessage(error)}`);
    });
  },
  async 'set-sysctl'(_, { name, value }, warn) {
    const path = join('/proc/sys', name.replaceAll('.', '/'));
    await writeFile(path, `${value}\n`).catch((error) => {
      warn(`${name} was not set to ${value}: ${errorMessage(error)}`);
    });
  },
  'start-docker': (exec, { manager }) => controlOf(manager).startDocker(exec),
  'reload-services': (exec) => controlOf('systemd').reload(exec),
  'enable-service': (exec, { manager }) => controlOf(manager).enable(exec),
  'restart-service': (exec, { manager, timeoutMs }) => controlOf(manager).restart(exec, timeoutMs),
  'remove-service': (exec, { manager }) => controlOf(manager).remove(exec),
  async reset(exec, { keepData, dataDir, dockerSocket, config }, warn) {
    const args = ['reset', '--yes', '--data-dir', dataDir, '--docker-socket', dockerSocket];
    const run = (file: readonly string[]) =>
      exec(process.execPath, [...args, ...file, ...(keepData ? ['--keep-data'] : [])], {
        lengthy: true,
        env: withoutSettings(process.env),
      });
    const { stdout } = await run(config === undefined ? [] : ['--config', config]).catch((error) => {
      if (config === undefined || !isUsageFailure(error)) throw error;
      warn(`${config} is not read: ${errorMessage(error).replace(/^.*?: error: /, '')}`);
      return run(['--config', '/dev/null']);
    });
    for (const line of stdout.split('\n')) if (line.startsWith('left in ')) warn(line);
  },
  async 'remove-path'(_, { path }) {
    await rm(path, { force: true });
    // A writer that was killed has left its draft, which may be large, or hold a token.
    await ifThere(removeLeftDrafts(dirname(path), basename(path)));
  },
  async 'remove-directory'(_, { path }) {
    await rm(path, { recursive: true, force: true });
  },
  async 'remove-empty-directory'(_, { path }) {
    await rmdir(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'ENOENT') throw error;
    });
  },
};

/** Returns true if minik8s has rejected settings: a removal does without those of a damaged file. */
const isUsageFailure = (error: unknown) => error instanceof ExecError && error.failure.code === 2;

/** Returns the environment without the variables that are settings: they may be those of another cluster. */
const withoutSettings = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('MINIK8S_')));

/** Copies a program atomically, so that a process that runs the old one is not disturbed. */
async function copyExecutable(from: string, path: string): Promise<void> {
  await removeLeftDrafts(dirname(path), basename(path));
  const draft = draftOf(path);
  try {
    await copyFile(from, draft, constants.COPYFILE_FICLONE);
    await chmod(draft, 0o755);
    {
      await using file = await open(draft);
      await file.sync();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await using directory = await open(dirname(path));
  await directory.sync();
}

/** Runs a command of the installed executable and resolves to its output. */
export async function runInstalled(exec: Exec, args: readonly string[]): Promise<string> {
  const { stdout } = await exec(executablePath, args);
  return stdout;
}
