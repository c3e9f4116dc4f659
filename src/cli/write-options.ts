/** What commands that write have in common. */
import type { Flags, FlagTable } from './flags.ts';

/** The name under which the server knows who set a field. */
export const writer = 'minik8s-ctl';

export const validateFlag = {
  validate: {
    type: 'string',
    hint: 'strict|warn|ignore',
    about: 'what to do about unknown or duplicate fields (default strict)',
  },
} as const satisfies FlagTable;

const validations = {
  strict: 'Strict',
  true: 'Strict',
  warn: 'Warn',
  ignore: 'Ignore',
  false: 'Ignore',
} as const;

/** The `fieldValidation` of a request. */
export function fieldValidationOf(flags: Flags): string {
  const choice = flags.oneOf('validate', ['strict', 'true', 'warn', 'ignore', 'false'] as const) ?? 'strict';
  return validations[choice];
}
