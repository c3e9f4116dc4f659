/** Errors of NVIDIA cards in the kernel's log, written by their driver ("NVRM: Xid"). Pure. */

/**
 * Beginning of the record that the driver writes when it is loaded. Earlier errors are obsolete, because the
 * cards have been initialized anew since.
 */
const loaded = 'NVRM: loading NVIDIA ';

/** Information about cards in a line of the log. */
export type CardNews =
  | { readonly kind: 'loaded' }
  /** `address` is the card's address on its bus, in the form of busAddress. */
  | { readonly kind: 'error'; readonly address: string; readonly xid: number };

/**
 * Xids that programs cause, after which the card can still be used: 13 graphics engine exception, 31 page
 * fault, 43 stopped processing, 45 preemptive cleanup, 68 video processor exception, 109 context switch
 * timeout. NVIDIA's device plugin ignores the same ones (k8s-device-plugin, internal/rm/health.go), and
 * treats every other one as fatal for the card.
 */
const causedByPrograms: ReadonlySet<number> = new Set([13, 31, 43, 45, 68, 109]);

/**
 * Parses one line of /dev/kmsg: PRIORITY,SEQUENCE,MICROSECONDS,FLAGS;TEXT
 * (Documentation/ABI/testing/dev-kmsg). Returns undefined for a line that is not about cards, and for a line
 * that a program wrote: only the kernel's own lines have the facility 0.
 */
export function readCardNews(line: string): CardNews | undefined {
  const [, priority, text = ''] = /^(\d{1,9}),\d+,\d+,[^;]*;(.*)$/.exec(line) ?? [];
  if (priority === undefined || Number(priority) >> 3 !== 0) return undefined;
  if (text.startsWith(loaded)) return { kind: 'loaded' };
  // Example: NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=app, GPU has fallen off the bus.
  const [, address, xid] = /^NVRM: Xid \((?:PCI:)?([0-9a-f:]+)(?: [^)]*)?\): (\d{1,9})\b/i.exec(text) ?? [];
  if (address === undefined || causedByPrograms.has(Number(xid))) return undefined;
  const known = busAddress(address);
  return known === undefined ? undefined : { kind: 'error', address: known, xid: Number(xid) };
}

/**
 * Returns DOMAIN:BUS:DEVICE in lower case, with at least four digits for the domain. The name of a card's
 * directory also contains a function (0000:3b:00.0), the driver's errors do not; a domain may have four or
 * eight digits. Undefined for an invalid address.
 */
export function busAddress(text: string): string | undefined {
  const [, domain, rest] =
    /^([0-9a-f]{4,8}):([0-9a-f]{2}:[0-9a-f]{2})(?:\.[0-7])?$/.exec(text.toLowerCase()) ?? [];
  return domain === undefined ? undefined : `${domain.replace(/^0+/, '').padStart(4, '0')}:${rest}`;
}
