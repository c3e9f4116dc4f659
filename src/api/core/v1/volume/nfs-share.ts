/** Validation of server names and share paths, which are passed to programs of the machine. Pure. */

/**
 * Pattern of a host name or an address, also an IPv6 address in brackets. A match cannot be read as an option
 * or a list.
 */
const serverName = /^(?:[A-Za-z0-9][\w.:-]*|::[\w.:-]*|\[[0-9A-Fa-f:.]+(?:%\w+)?\])$/;

/** Returns the problem of a share; undefined for none. */
export function shareFault(server: string, path: string): string | undefined {
  if (!serverName.test(server))
    return `server: ${JSON.stringify(server)} is not the name or address of a server`;
  const name = JSON.stringify(path);
  if (!path.startsWith('/')) return `path: ${name} is not absolute`;
  if (/\p{Cc}/u.test(path)) return `path: ${name} has control characters`;
  return path.split('/').includes('..') ? `path: ${name} must not contain ".."` : undefined;
}
