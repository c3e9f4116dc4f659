/** Errors of NVIDIA's cards as their driver writes them to the kernel's log ("NVRM: Xid"). Pure. */

/** The record that says that the driver was loaded: errors of before are of cards that have been set up anew since. */
const loaded = 'NVRM: loading NVIDIA ';

/** What a line of the log says of cards. */
export type CardNews =
  | { readonly kind: 'loaded' }
  /** `address` is that of the card on its bus, as in busAddress. */
  | { readonly kind: 'error'; readonly address: string; readonly xid: number };

/**
 * Xids that programs bring about, after which the card can be used: 13 graphics engine exception, 31 page fault, 43 stopped
 * processing, 45 preemptive cleanup, 68 video processor exception, 109 context switch timeout. NVIDIA's device plugin leaves
 * out the same ones (k8s-device-plugin, internal/rm/health.go), and takes every other for the end of the card's use.
 */
const causedByPrograms: ReadonlySet<number> = new Set([13, 31, 43, 45, 68, 109]);

/**
 * Reads one line of /dev/kmsg: PRIORITY,SEQUENCE,MICROSECONDS,FLAGS;TEXT (Documentation/ABI/testing/dev-kmsg). Undefined for
 * a line that says nothing of cards, and for one that a program wrote: the kernel's own have the facility 0.
 */
export function readCardNews(line: string): CardNews | undefined {
  const [, priority, text = ''] = /^(\d{1,9}),\d+,\d+,[^;]*;(.*)$/.exec(line) ?? [];
  if (priority === undefined || Number(priority) >> 3 !== 0) return undefined;
  if (text.startsWith(loaded)) return { kind: 'loaded' };
  // Such as: NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=app, GPU has fallen off the bus.
  const [, address, xid] = /^NVRM: Xid \((?:PCI:)?([0-9a-f:]+)(?: [^)]*)?\): (\d{1,9})\b/i.exec(text) ?? [];
  if (address === undefined || causedByPrograms.has(Number(xid))) return undefined;
  const known = busAddress(address);
  return known === undefined ? undefined : { kind: 'error', address: known, xid: Number(xid) };
}

/**
 * DOMAIN:BUS:DEVICE in small letters, the domain of at least four digits. The driver's directory of a card has a function behind it
 * (0000:3b:00.0), its errors have none; a domain may have four or eight digits. Undefined for what is no address.
 */
export function busAddress(text: string): string | undefined {
  const [, domain, rest] =
    /^([0-9a-f]{4,8}):([0-9a-f]{2}:[0-9a-f]{2})(?:\.[0-7])?$/.exec(text.toLowerCase()) ?? [];
  return domain === undefined ? undefined : `${domain.replace(/^0+/, '').padStart(4, '0')}:${rest}`;
}
