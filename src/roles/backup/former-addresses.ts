/** Addresses of a restored configuration that the machine does not have: those of the lost one. Pure. */

/** Settings of a master with an address of its own machine; undefined without one. */
export interface MachineAddresses {
  readonly 'node-ip'?: string | undefined;
  readonly 'bind-address'?: string | undefined;
}

const unspecified = ['0.0.0.0', '::'];

/**
 * Returns a line for each setting whose address is not among the machine's own. `file` is the configuration
 * file that has the settings.
 */
export function formerAddresses(
  settings: MachineAddresses,
  own: readonly string[],
  file: string,
): readonly string[] {
  return (['node-ip', 'bind-address'] as const).flatMap((key) => {
    const address = settings[key];
    if (address === undefined || unspecified.includes(address) || own.includes(address)) return [];
    return `${file} has ${key}: ${address}, which is no address of this machine: correct the file before minik8s starts`;
  });
}
