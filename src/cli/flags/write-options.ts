/** Shared options of commands that write. */
import { query } from '../../client/resource-path.ts';
import { type DryRun, dryRunFlag, type Flags, type FlagTable, fileFlags, selectorFlag } from './flags.ts';
import { printFlags } from './output-flags.ts';

/** Field manager of the client's writes. */
const writer = 'minik8s-ctl';

export const validateFlag = {
  validate: {
    type: 'string',
    hint: 'strict|warn|ignore',
    about: 'validation of unknown and duplicate fields',
    usual: 'strict',
    values: ['strict', 'warn', 'ignore'],
    bare: 'strict',
  },
} as const satisfies FlagTable;

export const managerFlag = {
  'field-manager': {
    type: 'string',
    hint: 'NAME',
    about: 'name under which the server stores who owns the written fields',
    usual: writer,
  },
} as const satisfies FlagTable;

export const resourceVersionFlag = {
  'resource-version': {
    type: 'string',
    hint: 'VERSION',
    about: 'change the object only if it has this resourceVersion now; for a single object',
  },
} as const satisfies FlagTable;

export const saveConfigFlag = {
  'save-config': {
    type: 'boolean',
    about: 'keep the configuration in an annotation, so that apply can change the object later',
  },
} as const satisfies FlagTable;

/** Returns the field manager of a request. */
export const fieldManagerOf = (flags: Flags): string => flags.text('field-manager') || writer;

/** Flags of commands that write objects from files, and print them. */
export const writeFlags = {
  ...fileFlags,
  ...dryRunFlag,
  ...printFlags,
} as const satisfies FlagTable;

/** Flags of commands that change objects that words, a selector or files name. */
export const changeFlags = {
  all: { type: 'boolean', about: 'all objects of the type in the namespace' },
  ...selectorFlag,
  ...fileFlags,
  ...dryRunFlag,
  ...printFlags,
  ...managerFlag,
} as const satisfies FlagTable;

/** Returns the query of a write request; `fieldValidation` is included if it is given. */
export const writeQuery = (dryRun: DryRun, fieldValidation?: string, fieldManager = writer): string =>
  query({ fieldManager, fieldValidation, dryRun: dryRun === 'server' ? 'All' : undefined });

const validations = { strict: 'Strict', warn: 'Warn', ignore: 'Ignore' } as const;

/** Returns the `fieldValidation` of a request. A boolean is accepted, as by kubectl. Throws UsageError. */
export function fieldValidationOf(flags: Flags): string {
  const meanings = { yes: 'strict', no: 'ignore' } as const;
  const choice = flags.oneOfOrBoolean('validate', ['strict', 'warn', 'ignore'] as const, meanings);
  return validations[choice ?? 'strict'];
}
