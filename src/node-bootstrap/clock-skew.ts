/** Whether two machines' clocks are close enough for certificates: data in, advice out. */

export interface ShownCertificates {
  /** Milliseconds since the epoch between which all of them are valid. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** What the server's clock said a moment ago; undefined when it did not tell. */
  readonly serverTime: number | undefined;
}

export interface ClockAdvice {
  /** One line. */
  readonly message: string;
  /** The server cannot be trusted by this clock. */
  readonly fatal: boolean;
}

/** A larger skew makes times of events, Leases and tokens wrong; a second of it is the header's rounding. */
const toleratedMs = 60_000;

/** Undefined when all is well. */
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

/** In its two largest units, such as `3 h 5 min`. */
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
