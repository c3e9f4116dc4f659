/** AppArmor's rules that an administrator has loaded on this machine: the kernel lists them. */
import { readFile } from 'node:fs/promises';

export const loadedProfiles = '/sys/kernel/security/apparmor/profiles';

/**
 * Resolves when `list` has a profile of this very name. The kernel knows other names besides, which the engine would pass on:
 * `unconfined` is no profile, but none. Throws an Error that tells nothing else of the machine.
 */
export async function requireAppArmorProfile(list: string, name: string): Promise<void> {
  const text = await readFile(list, 'utf8').catch(() => {
    throw new Error('the profiles of this machine cannot be read');
  });
  // Each with its mode, as `docker-default (enforce)`.
  const names = text.split('\n').map((line) => line.replace(/ \([a-z]+\)$/, ''));
  if (name === '' || !names.includes(name)) throw new Error('there is no such profile on this machine');
}
