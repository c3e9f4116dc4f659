/** Match conditions of webhooks: expressions of CEL that must all be true for a webhook to be called. */
import {
  duplicateCause,
  invalidCause,
  requiredCause,
  tooManyCause,
} from '../../../apimachinery/field-error.ts';
import { checkQualifiedName, nameCauses } from '../../../apimachinery/names.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { type Compiled, compile } from '../../../cel/compile.ts';
import type { Environment } from '../../../cel/environment.ts';
import { CelError } from '../../../cel/error.ts';
import {
  bool,
  dyn,
  listOf,
  mapOf,
  type ObjectType,
  opaque,
  showType,
  string,
  type Type,
} from '../../../cel/types/type.ts';
import type { MatchCondition } from './types.gen.ts';

const maxConditions = 64;

const object = (name: string, fields: Readonly<Record<string, Type>>): ObjectType => ({
  kind: 'object',
  name: `kubernetes.${name}`,
  fields: new Map(Object.entries(fields).map(([property, type]) => [property, { property, type }])),
});

const kindType = object('GroupVersionKind', { group: string, version: string, kind: string });
const resourceType = object('GroupVersionResource', { group: string, version: string, resource: string });
const userType = object('UserInfo', {
  username: string,
  uid: string,
  groups: listOf(string),
  extra: mapOf(string, listOf(string)),
});

/** Variables of the expressions: those of Kubernetes. */
const environment: Environment = {
  variables: {
    object: dyn,
    oldObject: dyn,
    namespaceObject: dyn,
    request: object('AdmissionRequest', {
      kind: kindType,
      resource: resourceType,
      subResource: string,
      requestKind: kindType,
      requestResource: resourceType,
      requestSubResource: string,
      name: string,
      namespace: string,
      operation: string,
      userInfo: userType,
      dryRun: bool,
      options: dyn,
    }),
    authorizer: opaque('kubernetes.authorization.Authorizer'),
    'authorizer.requestResource': opaque('kubernetes.authorization.ResourceCheck'),
  },
};

/** Compiles the expression of a condition. Throws a CelError, also if its result is no boolean. */
export function compileCondition({ expression }: MatchCondition): Compiled {
  const compiled = compile(expression.trim(), environment);
  const type = showType(compiled.resultType);
  if (type === 'bool') return compiled;
  throw new CelError(`must evaluate to bool but got ${type}`);
}

export function validateMatchConditions(conditions: readonly MatchCondition[], path: string): StatusCause[] {
  if (conditions.length > maxConditions) return [tooManyCause(path, conditions.length, maxConditions)];
  const names = new Set<string>();
  return conditions.flatMap((condition, index) => {
    const { name = '' } = condition;
    const at = `${path}[${index}]`;
    const causes = [...expressionCauses(condition, `${at}.expression`), ...nameProblems(name, `${at}.name`)];
    if (name && names.has(name)) causes.push(duplicateCause(`${at}.name`, name));
    names.add(name);
    return causes;
  });
}

const nameProblems = (name: string, path: string): StatusCause[] =>
  name === '' ? [requiredCause(path)] : nameCauses(path, name, checkQualifiedName);

function expressionCauses(condition: MatchCondition, path: string): StatusCause[] {
  const expression = (condition.expression ?? '').trim();
  if (expression === '') return [requiredCause(path)];
  try {
    compileCondition(condition);
    return [];
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    return [invalidCause(path, expression, error.message)];
  }
}
