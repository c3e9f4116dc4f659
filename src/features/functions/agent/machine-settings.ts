/** This machine's settings of pip and npm for a build: mounted read-only, never copied. */
import { readFile, stat } from 'node:fs/promises';
import { namedPaths, ownVariables, passedVariables, settingsFiles } from './plan/machine-settings.ts';

export interface MachineSettings {
  readonly env: readonly string[];
  readonly binds: readonly string[];
}

/**
 * Returns the settings. Paths with a colon and missing files are left out; pip and npm then report the
 * missing files.
 */
export async function machineSettings(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<MachineSettings> {
  const files = [];
  for (const file of settingsFiles(environment)) {
    const text = file.source.includes(':') ? undefined : await textOf(file.source);
    if (text !== undefined) files.push({ ...file, text });
  }
  const paths = namedPaths(
    environment,
    files.map(({ text }) => text),
  );
  const there = [];
  for (const path of paths) if (await exists(path)) there.push(path);
  return {
    env: [...passedVariables(environment), ...ownVariables(environment)],
    binds: [
      ...files.map(({ source, target }) => `${source}:${target}:ro`),
      ...there.map((path) => `${path}:${path}:ro`),
    ],
  };
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return undefined;
  }
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );
