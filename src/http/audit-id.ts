/** The header that carries the id of a request through all components. Pure. */
export const auditIdHeader = 'audit-id';

/** Ids are printable and short, since they are written into logs. */
const usable = /^[\x21-\x7e]{1,64}$/;

/**
 * Returns undefined for an invalid id: longer than 64 characters, or with characters other than printable
 * ASCII.
 */
export const readAuditId = (value: string | null | undefined): string | undefined =>
  value && usable.test(value) ? value : undefined;
