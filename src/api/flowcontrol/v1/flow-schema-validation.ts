/** Rules of FlowSchemas (upstream: ValidateFlowSchemaSpec). */
import { deepEqual } from '../../../apimachinery/equality.ts';
import {
  forbiddenCause,
  invalidCause,
  notSupportedCause,
  requiredCause,
} from '../../../apimachinery/field-error.ts';
import { checkDns1123Label, checkDns1123Subdomain, nameCauses } from '../../../apimachinery/names.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { fixedFlowSchemas } from './fixed-objects.ts';
import type {
  FlowSchema,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  Subject,
} from './types.gen.ts';

const maxPrecedence = 10_000;
const methods = ['ByNamespace', 'ByUser'];
const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];

export function validateFlowSchema({ metadata: { name }, spec }: FlowSchema): StatusCause[] {
  const { distinguisherMethod: method, priorityLevelConfiguration: level, rules = [] } = spec;
  const levelPath = 'spec.priorityLevelConfiguration.name';
  return [
    ...validatePrecedence(spec.matchingPrecedence, name),
    ...(method && !methods.includes(method.type)
      ? [notSupportedCause('spec.distinguisherMethod.type', method, methods)]
      : []),
    ...(level.name === ''
      ? [requiredCause(levelPath, 'must reference a priority level')]
      : nameCauses(levelPath, level.name, checkDns1123Subdomain)),
    ...rules.flatMap((rule, index) => validateRules(rule, `spec.rules[${index}]`)),
    ...validateFixed(name, spec),
  ];
}

function validateFixed(name: string, spec: FlowSchema['spec']): StatusCause[] {
  const fixed = fixedFlowSchemas.get(name);
  if (fixed === undefined || deepEqual(spec, fixed)) return [];
  return [invalidCause('spec', spec, `spec of '${name}' must equal the fixed value`)];
}

function validatePrecedence(precedence: number, name: string): StatusCause[] {
  const refuse = (why: string) => [invalidCause('spec.matchingPrecedence', precedence, why)];
  if (precedence <= 0) return refuse('must be a positive value');
  if (precedence > maxPrecedence) return refuse(`must not be greater than ${maxPrecedence}`);
  if (precedence > 1 || name === 'exempt') return [];
  return refuse("only the schema named 'exempt' may have matchingPrecedence 1");
}

function validateRules(rule: PolicyRulesWithSubjects, path: string): StatusCause[] {
  const { subjects, resourceRules = [], nonResourceRules = [] } = rule;
  const nothing = resourceRules.length + nonResourceRules.length === 0;
  return [
    ...(subjects.length === 0
      ? [requiredCause(`${path}.subjects`, 'subjects must contain at least one value')]
      : subjects.flatMap((subject, index) => validateSubject(subject, `${path}.subjects[${index}]`))),
    ...(nothing
      ? [requiredCause(path, 'at least one of resourceRules and nonResourceRules must be non-empty')]
      : []),
    ...resourceRules.flatMap((one, index) => validateResources(one, `${path}.resourceRules[${index}]`)),
    ...nonResourceRules.flatMap((one, index) => validatePaths(one, `${path}.nonResourceRules[${index}]`)),
  ];
}

const subjectFields = { ServiceAccount: 'serviceAccount', User: 'user', Group: 'group' } as const;

/** Validates a subject, which must have the field of its kind and no other. */
function validateSubject(subject: Subject, path: string): StatusCause[] {
  const { kind, serviceAccount } = subject;
  if (kind !== 'ServiceAccount' && kind !== 'User' && kind !== 'Group')
    return [notSupportedCause(`${path}.kind`, kind, ['Group', 'ServiceAccount', 'User'])];
  const own = subjectFields[kind];
  const at = `${path}.${own}`;
  const foreign = Object.entries(subjectFields)
    .filter(([, field]) => field !== own && subject[field] !== undefined)
    .map(([other, field]) =>
      forbiddenCause(`${path}.${field}`, `${field} is forbidden when subject kind is not '${other}'`),
    );
  const named = subject[own];
  if (named === undefined)
    return [requiredCause(at, `${own} is required when subject kind is '${kind}'`), ...foreign];
  const missing = named.name === '' ? [requiredCause(`${at}.name`)] : [];
  const account = kind === 'ServiceAccount' && serviceAccount ? validateAccount(serviceAccount, at) : [];
  return [...missing, ...account, ...foreign];
}

function validateAccount({ name, namespace }: { name: string; namespace: string }, path: string) {
  const named = name !== '' && name !== '*';
  return [
    ...(named ? nameCauses(`${path}.name`, name, checkDns1123Subdomain) : []),
    ...(namespace === ''
      ? [requiredCause(`${path}.namespace`, 'must specify namespace for service account')]
      : nameCauses(`${path}.namespace`, namespace, checkDns1123Label)),
  ];
}

/** Rejects `*` together with other values. Each value is validated elsewhere. */
function validateList(values: readonly string[], path: string, empty: string, many: string): StatusCause[] {
  if (values.length === 0) return [requiredCause(path, empty)];
  if (values.length === 1 || !values.includes('*')) return [];
  return [invalidCause(path, values, `if '*' is present, must not specify other ${many}`)];
}

function validateVerbs(values: readonly string[], path: string): StatusCause[] {
  const causes = validateList(values, path, 'verbs must contain at least one value', 'verbs');
  const known = values.includes('*') || values.every((verb) => verbs.includes(verb));
  return known ? causes : [notSupportedCause(path, values, verbs)];
}

function validateResources(rule: ResourcePolicyRule, path: string): StatusCause[] {
  const { namespaces = [], clusterScope = false } = rule;
  const at = `${path}.namespaces`;
  const oneOf = (what: string) => `resource rules must supply at least one ${what}`;
  const nowhere = 'resource rules that are not cluster scoped must supply at least one namespace';
  const bad = namespaces.includes('*')
    ? []
    : namespaces.flatMap((namespace, index) =>
        checkDns1123Label(namespace).map((why) =>
          invalidCause(
            `${at}[${index}]`,
            namespace,
            `each member of this list must be '*' or a DNS-1123 label; ${why}`,
          ),
        ),
      );
  return [
    ...validateVerbs(rule.verbs, `${path}.verbs`),
    ...validateList(rule.apiGroups, `${path}.apiGroups`, oneOf('api group'), 'api groups'),
    ...validateList(rule.resources, `${path}.resources`, oneOf('resource'), 'resources'),
    ...(namespaces.length === 0 && clusterScope ? [] : validateList(namespaces, at, nowhere, 'namespaces')),
    ...bad,
  ];
}

function validatePaths({ verbs: allowed, nonResourceURLs: urls }: NonResourcePolicyRule, path: string) {
  const at = `${path}.nonResourceURLs`;
  const empty = 'nonResourceURLs must contain at least one value';
  const bad = urls.includes('*') ? [] : urls.flatMap((url, index) => validatePath(url, `${at}[${index}]`));
  return [
    ...validateVerbs(allowed, `${path}.verbs`),
    ...validateList(urls, at, empty, 'non-resource URLs'),
    ...bad,
  ];
}

function validatePath(url: string, path: string): StatusCause[] {
  const why = pathProblem(url);
  return why === undefined ? [] : [invalidCause(path, url, why)];
}

function pathProblem(url: string): string | undefined {
  if (url === '') return 'must not be empty';
  if (!url.startsWith('/')) return 'must start with slash';
  if (url.includes(' ')) return 'must not contain white-space';
  if (url.includes('//')) return 'must not contain double slash';
  const star = url.indexOf('*');
  const isSuffix = star === url.length - 1 && url.endsWith('/*');
  return star === -1 || isSuffix ? undefined : 'wildcard can only do suffix matching';
}
