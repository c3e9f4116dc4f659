/** The part of policies and their bindings that selects requests (upstream: validateMatchResources). */
import { duplicateCause, invalidCause } from '../../../apimachinery/field-error.ts';
import { checkPathSegment } from '../../../apimachinery/names.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import type { RulesByType } from '../../../apimachinery/type-rules.ts';
import { validateLabelSelector } from '../../meta/v1/label-selector.ts';
import type { MatchResources, NamedRuleWithOperations } from './types.gen.ts';
import { validateRule } from './webhook-rules.ts';

export const matchResourcesRules: RulesByType = {
  'admissionregistration.v1.MatchResources': {
    defaults: { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} },
  },
  'admissionregistration.v1.NamedRuleWithOperations': { defaults: { scope: '*' } },
};

export function validateMatchResources(resources: MatchResources, path: string): StatusCause[] {
  const {
    namespaceSelector = {},
    objectSelector = {},
    resourceRules = [],
    excludeResourceRules = [],
  } = resources;
  return [
    ...validateLabelSelector(namespaceSelector, `${path}.namespaceSelector`),
    ...validateLabelSelector(objectSelector, `${path}.objectSelector`),
    ...resourceRules.flatMap((rule, index) => validateNamedRule(rule, `${path}.resourceRules[${index}]`)),
    ...excludeResourceRules.flatMap((rule, index) =>
      validateNamedRule(rule, `${path}.excludeResourceRules[${index}]`),
    ),
  ];
}

function validateNamedRule(rule: NamedRuleWithOperations, path: string): StatusCause[] {
  const seen = new Set<string>();
  const names = (rule.resourceNames ?? []).flatMap((name, index) => {
    const at = `${path}.resourceNames[${index}]`;
    const twice = seen.has(name) ? [duplicateCause(at, name)] : [];
    seen.add(name);
    return [...checkPathSegment(name).map((why) => invalidCause(at, name, why)), ...twice];
  });
  return [...names, ...validateRule(rule, path)];
}
