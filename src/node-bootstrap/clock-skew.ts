/** Compares two machines' clocks, which certificates require to be close. Pure. */

export interface ShownCertificates {
  /** Times in milliseconds since the epoch between which all certificates are valid. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** The server's time a moment ago; undefined if it is not known. */
  readonly serverTime: number | undefined;
}

export interface ClockAdvice {
  /** One line. */
  readonly message: string;
  /** True if the server cannot be trusted with this clock. */
  readonly fatal: boolean;
}

/**
 * Maximum clock skew in milliseconds. A larger skew makes times of events, Leases and tokens wrong; up to one
 * second of the skew comes from rounding in the header.
 */
const toleratedMs = 60_000;

/** Returns undefined if the clocks agree. */
export function clockAdvice(server: string, shown: ShownCertificates, now: number): ClockAdvice | undefined {
  const { notBefore, notAfter, serverTime } = shown;
  const skew = serverTime === undefined ? 0 : now - serverTime;
  const off = Math.abs(skew) > toleratedMs;
  const clocks = `the clock of this machine is ${duration(Math.abs(skew))} ${skew < 0 ? 'behind' : 'ahead of'} that of ${server}`;
  const set = 'set it (timedatectl set-ntp true)';
  if (now >= notBefore && now <= notAfter) {
    return off ? { message: `${clocks}; ${set}`, fatal: false } : undefined;
  }
  const why =
    now < notBefore
      ? `not valid before ${new Date(notBefore).toISOString()}`
      : `valid until ${new Date(notAfter).toISOString()} only`;
  if (off) return { message: `${clocks}, and its certificate is ${why}; ${set}`, fatal: true };
  return {
    message: `the certificate of ${server} is ${why}, and the time is ${new Date(now).toISOString()}; restart the master, which renews it`,
    fatal: true,
  };
}

/** Formats a duration in its two largest units, such as `3 h 5 min`. */
function duration(ms: number): string {
  const units = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['min', 60_000],
    ['s', 1_000],
  ] as const;
  const parts: string[] = [];
  let rest = ms;
  for (const [name, size] of units) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0 && parts.length < 2) parts.push(`${count} ${name}`);
  }
  return parts.join(' ');
}
