/** Directories of the programs of system administration, which the PATH of su and of some shells lacks. */
const directories = ['/usr/sbin', '/sbin'];

/** Appends the directories to the PATH of the environment. */
export function addSystemPrograms(environment: Record<string, string | undefined>): void {
  const known = (environment.PATH ?? '').split(':').filter((path) => path !== '');
  environment.PATH = [...known, ...directories.filter((path) => !known.includes(path))].join(':');
}
