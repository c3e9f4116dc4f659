/** Names of servers and paths of shares, as they are given to programs of the machine. Pure. */

/** Of a host name, an address, or one of version 6 in brackets; nothing that a program could take for an option or a list. */
const serverName = /^(?:[A-Za-z0-9][\w.:-]*|::[\w.:-]*|\[[0-9A-Fa-f:.]+(?:%\w+)?\])$/;

/** What is wrong with a share, if anything. */
export function shareFault(server: string, path: string): string | undefined {
  if (!serverName.test(server)) return `server: ${JSON.stringify(server)} is no name or address of a server`;
  const name = JSON.stringify(path);
  if (!path.startsWith('/')) return `path: ${name} is not absolute`;
  if (/\p{Cc}/u.test(path)) return `path: ${name} has control characters`;
  return path.split('/').includes('..') ? `path: ${name} leads out by ".."` : undefined;
}
