/** The policy of a kuberc for credential plugins: which programs may run. Fields of kubectl 1.35. */
import { accessSync, constants } from 'node:fs';
import { basename, join, normalize } from 'node:path';

export interface PluginPolicy {
  /** `AllowAll`, `DenyAll` or `Allowlist`; an empty text allows all. */
  readonly policy: string;
  /** Names and paths of the programs that `Allowlist` allows. */
  readonly allowed: readonly string[];
}

/** Throws for a policy that cannot be meant: it protects, so it must not be ignored. */
export function validatePluginPolicy({ policy, allowed }: PluginPolicy): void {
  if (!['', 'AllowAll', 'DenyAll', 'Allowlist'].includes(policy))
    throw new Error(`unknown plugin policy ${JSON.stringify(policy)}: AllowAll, DenyAll or Allowlist`);
  const what = `credential plugin policy set to ${JSON.stringify(policy)}`;
  if (policy === 'Allowlist' && allowed.length === 0)
    throw new Error(`${what}, but allowlist is unspecified or empty`);
  if (policy !== 'Allowlist' && allowed.length > 0) throw new Error(`${what}, but there is an allowlist`);
  if (allowed.includes('')) throw new Error('misconfigured credential plugin allowlist: empty entry');
}

/**
 * Returns the program to run for a command, which is a name or a path. Throws if the policy does not allow
 * it. `path` is $PATH; the program that was compared is the one that runs.
 */
export function allowedProgram(command: string, { policy, allowed }: PluginPolicy, path: string): string {
  if (policy === '' || policy === 'AllowAll') return command;
  if (policy === 'DenyAll')
    throw new Error(`plugin ${JSON.stringify(command)} not allowed: policy set to "DenyAll"`);
  const program = programOf(command, path);
  if (program === undefined)
    throw new Error(
      `plugin path ${JSON.stringify(command)} cannot be resolved for credential plugin allowlist check`,
    );
  const named = (entry: string) => entry === normalize(command) || entry === program;
  const found = (entry: string) =>
    basename(entry) === basename(program) && programOf(entry, path) === program;
  if (allowed.some((entry) => named(entry) || found(entry))) return program;
  throw new Error(
    `plugin path ${JSON.stringify(program)} is not permitted by the credential plugin allowlist`,
  );
}

/** Returns the path of a program; undefined if there is none. */
function programOf(command: string, path: string): string | undefined {
  if (command.includes('/')) return isProgram(command) ? normalize(command) : undefined;
  const folders = path.split(':').filter((folder) => folder.startsWith('/'));
  return folders.map((folder) => join(folder, command)).find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
