/**
 * Builds the image of one FunctionVersion: base image, program, files, libraries
 * (docs/decisions/0059-functions.md).
 */

import type { Client } from '../../../client/client.ts';
import type { AssetName } from '../../../os/assets.ts';
import { lockFault } from '../api/function-lock.ts';
import { dependencyFile } from '../api/function-validation.ts';
import type { FunctionVersion } from '../api/function-version.ts';
import type { BuildEngine, Installed } from './build-engine.ts';
import type { BuildLog } from './build-log.ts';
import { machineSettings } from './machine-settings.ts';
import { BuildError } from './plan/build-error.ts';
import {
  archiveOf,
  below,
  type FunctionRuntime,
  imageConfig,
  type NamedFile,
  ownFolder,
  programFiles,
  programFolder,
  runPrograms,
  textOf,
} from './plan/image-contents.ts';
import { npmCommand, packageToInstall, portableLock } from './plan/node-libraries.ts';
import { lockOfReport, pipCommand, requirementLines } from './plan/python-libraries.ts';
import { changeStatus } from './version-status.ts';

export interface FunctionBuilderOptions {
  readonly client: Client;
  readonly engine: BuildEngine;
  readonly readAsset: (name: AssetName) => Uint8Array;
  /** Environment of the agent: the settings of pip and npm in it also apply to installations. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The installation of libraries, with or without a lock. */
interface Plan {
  readonly files: readonly NamedFile[];
  readonly command: readonly string[];
  /** Folder that the installation creates, and its path in the image. */
  readonly folder: string;
  readonly into: string;
  /** Returns the list of the installed libraries. */
  readonly readLock: (installed: Installed) => Promise<string>;
}

const installFolder = `${ownFolder}/build`;

export class FunctionBuilder {
  readonly #options: FunctionBuilderOptions;

  constructor(options: FunctionBuilderOptions) {
    this.#options = options;
  }

  /**
   * Resolves once the image is present under its name. Throws BuildError for an error that the function's
   * author can fix. `baseImage` is an id.
   */
  async build(
    version: FunctionVersion,
    baseImage: string,
    log: BuildLog,
    signal: AbortSignal,
  ): Promise<void> {
    const { engine, readAsset } = this.#options;
    const { runtime } = version.spec;
    if (runtime === undefined) throw new BuildError('it has no runtime');
    const { asset } = runPrograms[runtime];
    const program = { path: asset, content: readAsset(asset) };
    const files = [...below(ownFolder, [program]), ...below(programFolder, programFiles(version))];
    const commit = {
      baseImage,
      archive: archiveOf(files),
      config: imageConfig(version, runtime),
      image: version.spec.image,
    };
    let lock = version.status?.lock;
    for (;;) {
      const plan = installPlan(version, runtime, lock);
      if (!plan) return engine.commit(commit);
      const theirs = await this.#install(version, baseImage, plan, log, signal, async (installed, made) => {
        // The first lock that a node writes determines the libraries; the lock of a version never changes.
        const first = lock ?? (await this.#writeLock(version, made));
        if (first !== (lock ?? made)) return first;
        await engine.commit(commit, { from: installed, folder: plan.folder, into: plan.into });
        return undefined;
      });
      if (theirs === undefined) return;
      log.addLine('another node has recorded the libraries: installing the recorded ones');
      lock = theirs;
    }
  }

  async #install<T>(
    version: FunctionVersion,
    image: string,
    { files, command, readLock }: Plan,
    log: BuildLog,
    signal: AbortSignal,
    use: (installed: Installed, lock: string) => Promise<T>,
  ): Promise<T> {
    const { engine, environment } = this.#options;
    log.addLine(`$ ${command.join(' ')}`);
    const installation = {
      image,
      archive: archiveOf(below(installFolder, files)),
      command,
      workingDir: `/${installFolder}`,
      onOutput: (data: Uint8Array) => log.write(data),
      ...(await machineSettings(environment)),
    };
    return engine.install(installation, signal, async ({ exitCode, installed }) => {
      if (exitCode !== 0) {
        log.addLine(`${command[0]} ended with ${exitCode}`);
        throw new BuildError(`the libraries of FunctionVersion ${version.metadata.name} cannot be installed`);
      }
      const lock = await readLock(installed);
      const fault = version.spec.runtime && lockFault(version.spec.runtime, lock);
      if (fault !== undefined) throw new BuildError(`the installed libraries cannot be recorded: ${fault}`);
      return use(installed, lock);
    });
  }

  /** Writes the lock unless the version has one already; returns the lock that it has then. */
  async #writeLock(version: FunctionVersion, made: string): Promise<string> {
    const { status } = await changeStatus(this.#options.client, version, (now) => ({ lock: made, ...now }));
    return status?.lock ?? made;
  }
}

/**
 * Returns undefined where there is nothing to install. Throws BuildError for dependencies that are not
 * supported.
 */
function installPlan(
  version: FunctionVersion,
  runtime: FunctionRuntime,
  lock: string | undefined,
): Plan | undefined {
  const wanted = textOf(version, dependencyFile(runtime));
  if (wanted === undefined) return undefined;
  const fault = lock === undefined ? undefined : lockFault(runtime, lock);
  if (fault !== undefined) {
    const { name } = version.metadata;
    throw new BuildError(
      `status.lock of FunctionVersion ${name} is not valid: ${fault}. Delete that version: it is created and built again`,
    );
  }
  return runtime === 'python' ? pythonPlan(wanted, lock) : nodePlan(wanted, version, lock);
}

const file = (path: string, text: string): NamedFile => ({ path, content: Buffer.from(text) });

function pythonPlan(wanted: string, lock: string | undefined): Plan | undefined {
  const lines = requirementLines(wanted);
  if (lines.length === 0) return undefined;
  const required = lock ?? `${lines.join('\n')}\n`;
  return {
    files: [file('requirements.txt', required)],
    command: pipCommand(lock !== undefined),
    folder: 'libraries',
    into: `/${ownFolder}`,
    readLock: async (installed) => lock ?? lockOfReport((await installed.file('report.json')) ?? ''),
  };
}

function nodePlan(wanted: string, version: FunctionVersion, lock: string | undefined): Plan | undefined {
  const manifest = packageToInstall(wanted);
  if (manifest === undefined) return undefined;
  const given = lock ?? textOf(version, 'package-lock.json');
  const locked = given === undefined ? undefined : portableLock(given);
  const locks = locked === undefined ? [] : [file('package-lock.json', locked)];
  return {
    files: [file('package.json', manifest), ...locks],
    command: npmCommand(locked !== undefined),
    folder: 'node_modules',
    into: `/${programFolder}`,
    readLock: async (installed) =>
      lock ?? locked ?? portableLock((await installed.file('package-lock.json')) ?? ''),
  };
}
