/** Plugins of ctl: programs on the PATH with the name `kubectl-NAME` or `minik8s-NAME`. */
import { spawn } from 'node:child_process';
import { accessSync, constants, readdirSync, statSync } from 'node:fs';
import { constants as osConstants } from 'node:os';
import { basename, join } from 'node:path';

const prefixes = ['minik8s-', 'kubectl-'];

export interface Plugin {
  readonly path: string;
  /** Reason why the plugin cannot be called; absent if it can be called. */
  readonly problem?: string;
}

const directoriesOf = (path: string) => [...new Set(path.split(':').filter(Boolean))];

/** Returns all plugins in the order of the PATH; directories that cannot be read are skipped. */
export function listPlugins(path: string): readonly Plugin[] {
  const first = new Map<string, string>();
  const found = directoriesOf(path).flatMap((directory) =>
    namesIn(directory).map((name) => join(directory, name)),
  );
  return found.map((file) => {
    const name = basename(file);
    const other = first.get(name);
    if (other === undefined) first.set(name, file);
    const problem = problemOf(file, other);
    return { path: file, ...(problem && { problem }) };
  });
}

/** Returns the first word of the name of each plugin that can be called. */
export const pluginNames = (path: string): readonly string[] =>
  listPlugins(path).flatMap(({ path: file, problem }) =>
    problem === undefined ? [basename(file).split('-')[1]?.replaceAll('_', '-') ?? ''] : [],
  );

function problemOf(file: string, other: string | undefined): string | undefined {
  if (other !== undefined) return `is overshadowed by a plugin of the same name: ${other}`;
  return isProgram(file) ? undefined : 'identified as a plugin, but it is not executable';
}

function namesIn(directory: string): string[] {
  try {
    const names = readdirSync(directory).sort();
    return names.filter((name) => prefixes.some((prefix) => name.startsWith(prefix) && name !== prefix));
  } catch {
    return [];
  }
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Maximum number of words that can form the name of a plugin. */
const maxWords = 8;

/**
 * Returns the plugin with the longest name that the words begin with, and the words behind its name; a dash
 * in a word is `_` in the name of the file. Undefined if there is none.
 */
export function findPlugin(
  path: string,
  words: readonly string[],
): { readonly file: string; readonly args: readonly string[] } | undefined {
  for (const { name, count } of namesOf(words)) {
    const files = prefixes.flatMap((prefix) =>
      directoriesOf(path).map((directory) => join(directory, prefix + name)),
    );
    const file = files.find(isProgram);
    if (file !== undefined) return { file, args: words.slice(count) };
  }
  return undefined;
}

/** Returns the names that the first words form, the longest first, with their number of words. */
function namesOf(words: readonly string[]): { readonly name: string; readonly count: number }[] {
  const end = words.findIndex((word) => !/^\w[\w.-]*$/.test(word));
  const parts = words.slice(0, Math.min(end < 0 ? words.length : end, maxWords));
  return parts
    .map((_, index) => ({
      name: parts
        .slice(0, index + 1)
        .map((word) => word.replaceAll('-', '_'))
        .join('-'),
      count: index + 1,
    }))
    .reverse();
}

/** The part of `process` that runPlugin needs. */
export interface PluginSignals {
  readonly stdin: { readonly isTTY?: boolean };
  on(event: NodeJS.Signals, listener: (name: NodeJS.Signals) => void): unknown;
  off(event: NodeJS.Signals, listener: (name: NodeJS.Signals) => void): unknown;
}

/**
 * Runs a plugin on this terminal; resolves to its exit status. A plugin decides itself how it ends: it gets
 * the signals that ask this process to end, except those that the terminal sends to both.
 */
export function runPlugin(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  source: PluginSignals = process,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, [...args], { stdio: 'inherit', env });
    const passOn = (name: NodeJS.Signals) => void child.kill(name);
    const names: readonly NodeJS.Signals[] = source.stdin.isTTY
      ? ['SIGTERM']
      : ['SIGINT', 'SIGTERM', 'SIGHUP'];
    for (const name of names) source.on(name, passOn);
    const end = () => {
      for (const name of names) source.off(name, passOn);
    };
    child.on('error', (error) => {
      end();
      reject(error);
    });
    child.on('close', (code, signal) => {
      end();
      resolve(code ?? 128 + (signal ? osConstants.signals[signal] : 0));
    });
  });
}
