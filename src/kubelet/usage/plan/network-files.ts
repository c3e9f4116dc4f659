/** Parses /proc/PID/net/dev. Pure. */

/** Counts since the interface was created. */
export interface InterfaceUsage {
  readonly name: string;
  readonly receivedBytes: number;
  readonly receivedPackets: number;
  readonly receiveErrors: number;
  readonly receiveDrops: number;
  readonly sentBytes: number;
  readonly sentPackets: number;
  readonly sendErrors: number;
  readonly sendDrops: number;
}

/** Returns all interfaces except loopback, in the kernel's order. */
export function interfacesIn(text: string): readonly InterfaceUsage[] {
  return text.split('\n').flatMap((line) => {
    const [, name, rest = ''] = /^\s*([^\s:|][^:|]*):\s*(\d.*)$/.exec(line) ?? [];
    if (name === undefined || name === 'lo') return [];
    const [receivedBytes = 0, receivedPackets = 0, receiveErrors = 0, receiveDrops = 0, , , , , ...sent] =
      rest.trim().split(/\s+/).map(Number);
    const [sentBytes = 0, sentPackets = 0, sendErrors = 0, sendDrops = 0] = sent;
    return [
      {
        ...{ name, receivedBytes, receivedPackets, receiveErrors, receiveDrops },
        ...{ sentBytes, sentPackets, sendErrors, sendDrops },
      },
    ];
  });
}

/** Returns the pod's main interface: eth0 if it exists, else the first interface. */
export const mainInterface = (interfaces: readonly InterfaceUsage[]): InterfaceUsage | undefined =>
  interfaces.find(({ name }) => name === 'eth0') ?? interfaces[0];
