/** The header by which a request has one id in all components. Pure. */
export const auditIdHeader = 'audit-id';

/** Printable and short, since it is written into logs. */
const usable = /^[\x21-\x7e]{1,64}$/;

/** Undefined for what cannot be an id: more than 64 characters, or others than printable ones of ASCII. */
export const readAuditId = (value: string | null | undefined): string | undefined =>
  value && usable.test(value) ? value : undefined;
