/** Times of the States Language: RFC 3339, with a capital T, and Z or an offset. */

const form = /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/**
 * Returns the milliseconds since the Unix epoch, with fractions, or undefined if the text is not such a time.
 */
export function parseTimestamp(text: string): number | undefined {
  const [, date, , fraction = ''] = form.exec(text) ?? [];
  if (date === undefined) return undefined;
  // February 30 would be a day in March without this check.
  const day = new Date(`${date}T00:00:00Z`);
  if (Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== date) return undefined;
  const whole = Date.parse(fraction === '' ? text : text.replace(fraction, ''));
  return whole + Number(`0${fraction}`) * 1000;
}
