/** Flags that choose in which format a command prints objects. */
import type { FlagDefinition, FlagTable } from './flags.ts';

/** Names of the formats of objects, as `objectFormat` accepts them. */
const outputFormats = [
  ...['go-template', 'go-template-file', 'json', 'jsonpath', 'jsonpath-as-json', 'jsonpath-file'],
  ...['name', 'yaml'],
];

export const outputFlag = {
  output: {
    type: 'string',
    short: 'o',
    hint: 'FORMAT',
    about: 'name, json, yaml, jsonpath=…, go-template=…, or the -file forms of both',
    usual: 'a line for each object',
    values: outputFormats,
  },
} as const satisfies FlagTable;

/** The flag of commands that print tables of objects. */
export const tableOutput = {
  ...outputFlag.output,
  about: 'wide, name, json, yaml, jsonpath=…, go-template=…, custom-columns=…, or their -file forms',
  usual: 'a table',
  values: [
    'custom-columns',
    'custom-columns-file',
    ...outputFormats,
    'template',
    'templatefile',
    'wide',
  ].sort(),
} as const satisfies FlagDefinition;

/** Flags of every command that prints objects; `printedFormat` reads them. */
export const printFlags = {
  ...outputFlag,
  template: {
    type: 'string',
    hint: 'TEMPLATE',
    about: 'template, or file of a template, for -o go-template, jsonpath and their -file forms',
  },
  'allow-missing-template-keys': {
    type: 'boolean',
    on: true,
    about: 'ignore fields and keys of a template that are missing; off: an error',
  },
  'show-managed-fields': { type: 'boolean', about: 'keep metadata.managedFields in JSON and YAML' },
} as const satisfies FlagTable;
