/** Variables of the expressions of webhooks and policies. */
import type { Environment } from '../../../../cel/environment.ts';
import { dyn, type ObjectType, opaque, type Type } from '../../../../cel/types/type.ts';
import { patchTypeOf } from './patch-types.ts';
import { namespaceType, requestType } from './request-types.ts';

export interface Names {
  /** Types of the object and the old object; default: any. */
  readonly object?: Type;
  /** Type of the parameters; undefined without parameters. */
  readonly params?: Type | undefined;
  /** Types of the variables that a policy defines; undefined where there are none. */
  readonly variables?: ReadonlyMap<string, Type> | undefined;
  /** False if the expression may not ask the authorizer; default: true. */
  readonly hasAuthorizer?: boolean;
  /** True if the expression makes a patch: it then has the types of patches; default: false. */
  readonly makesPatches?: boolean;
}

export function expressionEnvironment({
  object = dyn,
  params,
  variables,
  hasAuthorizer = true,
  makesPatches = false,
}: Names): Environment {
  return {
    variables: {
      object,
      oldObject: object,
      request: requestType,
      namespaceObject: namespaceType,
      ...(hasAuthorizer && authorizerTypes),
      ...(params && { params }),
      ...(variables && { variables: variablesType(variables) }),
    },
    ...(makesPatches && { madeType: patchTypeOf }),
  };
}

const authorizerTypes = {
  authorizer: opaque('kubernetes.authorization.Authorizer'),
  'authorizer.requestResource': opaque('kubernetes.authorization.ResourceCheck'),
};

const variablesType = (variables: ReadonlyMap<string, Type>): ObjectType => ({
  kind: 'object',
  name: 'kubernetes.variables',
  fields: new Map([...variables].map(([property, type]) => [property, { property, type }])),
});
