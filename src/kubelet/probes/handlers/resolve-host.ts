/**
 * Resolves the host of a handler. The platform's own function holds one of four threads until the name
 * servers answer, and the same threads read files. This one therefore queries the servers itself, and ends
 * when the handler does.
 */
import { promises } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { onAbort } from '../../../base/abort.ts';
import { isAddress } from '../../../base/addresses.ts';

/** Throws Error, worded as Kubernetes does, when the name has no address. */
export async function resolveHost(host: string, signal: AbortSignal): Promise<string> {
  if (isAddress(host)) return host;
  const name = host.toLowerCase().replace(/\.$/, '');
  const known = addressIn(await readFile('/etc/hosts', 'utf8').catch(() => ''), name);
  if (known !== undefined) return known;
  const resolver = new promises.Resolver();
  const forget = onAbort(signal, () => resolver.cancel());
  try {
    signal.throwIfAborted();
    const found = await resolver.resolve4(name).catch(() => resolver.resolve6(name));
    if (found[0] !== undefined) return found[0];
  } catch {
    signal.throwIfAborted();
  } finally {
    forget();
  }
  throw new Error(`lookup ${host}: no such host`);
}

function addressIn(hosts: string, name: string): string | undefined {
  for (const line of hosts.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (names.some((one) => one.toLowerCase() === name) && isAddress(address)) return address;
  }
  return name === 'localhost' ? '127.0.0.1' : undefined;
}
