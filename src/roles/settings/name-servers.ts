/** The reader of --dns-upstream. It throws an Error that says what is expected. */
import { isIPv4 } from '../../base/addresses.ts';
import type { Server } from '../../cluster-dns/exchange.ts';

/** Reads servers such as `192.0.2.53,192.0.2.54:5353`. */
export function nameServers(value: string): readonly Server[] {
  return value.split(',').map((one) => {
    const [address = '', port = '53', ...more] = one.trim().split(':');
    const number = Number(port);
    if (!isIPv4(address) || !/^\d+$/.test(port) || number < 1 || number > 65_535 || more.length > 0) {
      throw new Error('expected IPv4 addresses such as 192.0.2.53,192.0.2.54:5353');
    }
    return { address, port: number };
  });
}
