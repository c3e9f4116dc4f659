/** Roles and their bindings. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { ruleHeaders, ruleRows } from '../access/rule-rows.ts';
import { metadataOf, recordsAt, textAt } from '../objects/objects.ts';
import type { Describer } from './describer.ts';
import { labelsAndAnnotations, optionalLine } from './lines.ts';

/**
 * Returns the lines above the rules or subjects. kubectl leaves out the namespace, so that roles of one name
 * look alike with -A.
 */
const nameLines = (object: JsonObject): string[] => [
  `Name:\t${metadataOf(object).name}`,
  ...optionalLine('Namespace', metadataOf(object).namespace),
  ...labelsAndAnnotations(object),
];

export const role: Describer = {
  withoutEvents: true,
  lines(object) {
    const rules = recordsAt(object, 'rules');
    const isOfPaths = (rule: JsonObject) => Array.isArray(rule.nonResourceURLs);
    const rows = ruleRows({
      nonResourceRules: rules.filter(isOfPaths),
      resourceRules: rules.filter((rule) => !isOfPaths(rule)),
    });
    return [
      ...nameLines(object),
      'PolicyRule:',
      `  ${ruleHeaders.join('\t')}`,
      '  ---------\t-----------------\t--------------\t-----',
      ...rows.map((row) => `  ${row.join('\t')}`),
    ];
  },
};

export const roleBinding: Describer = {
  withoutEvents: true,
  lines: (object) => [
    ...nameLines(object),
    'Role:',
    `  Kind:\t${textAt(object, 'roleRef', 'kind')}`,
    `  Name:\t${textAt(object, 'roleRef', 'name')}`,
    'Subjects:',
    '  Kind\tName\tNamespace',
    '  ----\t----\t---------',
    ...recordsAt(object, 'subjects').map(
      (subject) => `  ${['kind', 'name', 'namespace'].map((field) => textAt(subject, field)).join('\t')}`,
    ),
  ],
};
