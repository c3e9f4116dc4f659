/** AppArmor profiles that an administrator has loaded on this machine, as the kernel lists them. */
import { readFile } from 'node:fs/promises';

export const loadedProfiles = '/sys/kernel/security/apparmor/profiles';

/**
 * Resolves when `list` has a profile of exactly this name. The kernel also accepts other names, which the
 * engine would pass on: `unconfined` is not a profile but the absence of one. Throws an Error that reveals
 * nothing else about the machine.
 */
export async function requireAppArmorProfile(list: string, name: string): Promise<void> {
  const text = await readFile(list, 'utf8').catch(() => {
    throw new Error('the profiles of this machine cannot be read');
  });
  // Each line has a name and its mode, such as `docker-default (enforce)`.
  const names = text.split('\n').map((line) => line.replace(/ \([a-z]+\)$/, ''));
  if (name === '' || !names.includes(name)) throw new Error('there is no such profile on this machine');
}
