/** What an address may look like, in the words of k8s.io/apimachinery util/validation. */

const notAnAddress = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

/** The four bytes; undefined unless there are four decimal numbers up to 255 without leading zeros. */
export function parseIPv4(text: string): readonly number[] | undefined {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part))) return undefined;
  const bytes = parts.map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : undefined;
}

/** The eight 16-bit groups; undefined unless the text is an IPv6 address (without a zone). */
export function parseIPv6(text: string): readonly number[] | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head = '', tail] = halves;
  const before = groups(head, tail === undefined);
  const after = groups(tail ?? '', true);
  if (!before || !after) return undefined;
  const missing = 8 - before.length - after.length;
  if (tail === undefined) return missing === 0 ? before : undefined;
  return missing >= 1 ? [...before, ...new Array<number>(missing).fill(0), ...after] : undefined;
}

/** Groups between colons; the last of the whole address may be an IPv4 address, which counts as two. */
function groups(text: string, last: boolean): number[] | undefined {
  if (text === '') return [];
  const parts = text.split(':');
  const result: number[] = [];
  for (const [index, part] of parts.entries()) {
    const embedded = last && index === parts.length - 1 && part.includes('.') ? parseIPv4(part) : undefined;
    if (embedded) {
      const [a = 0, b = 0, c = 0, d = 0] = embedded;
      result.push(a * 256 + b, c * 256 + d);
    } else if (/^[0-9a-fA-F]{1,4}$/.test(part)) result.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return result;
}

export const isIPAddress = (text: string) => parseIPv4(text) !== undefined || parseIPv6(text) !== undefined;

export const checkIPAddress = (text: string) => (isIPAddress(text) ? [] : [notAnAddress]);
export const checkIPv4 = (text: string) => (parseIPv4(text) ? [] : ['must be a valid IPv4 address']);
export const checkIPv6 = (text: string) => (parseIPv6(text) ? [] : ['must be a valid IPv6 address']);

/** `10.244.1.0/24` or an IPv6 range. */
export function checkCIDR(text: string): string[] {
  const [address = '', bits = '', ...rest] = text.split('/');
  const most = parseIPv4(address) ? 32 : parseIPv6(address) ? 128 : -1;
  const good = rest.length === 0 && /^(0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= most;
  return good ? [] : ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'];
}

/** Addresses that mean something only on the machine that says them: no endpoint or external address may be one. */
export function checkNonSpecialIP(text: string): string[] {
  const v4 = parseIPv4(text);
  const v6 = v4 ? undefined : parseIPv6(text);
  if (!v4 && !v6) return [notAnAddress];
  const [a = 0, b = 0, c = 0] = v4 ?? [];
  const [first = 0] = v6 ?? [];
  const zeroUpTo = (count: number) => v6?.slice(0, count).every((group) => group === 0) ?? false;
  const problems: string[] = [];
  if (v4?.every((byte) => byte === 0) || zeroUpTo(8)) problems.push(`may not be unspecified (${text})`);
  if (a === 127 || (zeroUpTo(7) && v6?.[7] === 1))
    problems.push('may not be in the loopback range (127.0.0.0/8, ::1/128)');
  if ((a === 169 && b === 254) || (first & 0xffc0) === 0xfe80)
    problems.push('may not be in the link-local range (169.254.0.0/16, fe80::/10)');
  if ((a === 224 && b === 0 && c === 0) || (first & 0xff0f) === 0xff02)
    problems.push('may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)');
  return problems;
}

/** What an IPv6 address that stands for an IPv4 address stands for (RFC 4291 §2.5.5.2); any other text as it is. */
function unmapped(text: string): string {
  const groups = parseIPv6(text);
  const [high = 0, low = 0] = groups?.slice(6) ?? [];
  if (groups?.slice(0, 6).join() !== '0,0,0,0,0,65535') return text;
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}

/** An address of one machine that means the same everywhere, private ones included (Go's IsGlobalUnicast). */
export function isGlobalUnicast(address: string): boolean {
  const text = unmapped(address);
  if (checkNonSpecialIP(text).length > 0) return false;
  const v4 = parseIPv4(text);
  if (v4) return ((v4[0] ?? 0) & 0xf0) !== 224 && v4.some((byte) => byte !== 255);
  return ((parseIPv6(text)?.[0] ?? 0) & 0xff00) !== 0xff00;
}
