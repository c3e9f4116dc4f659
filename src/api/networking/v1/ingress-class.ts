import {
  forbiddenCause,
  invalidCause,
  requiredCause,
  tooLongCause,
} from '../../../apimachinery/field-error.ts';
import { checkDns1123Label, nameCauses } from '../../../apimachinery/names.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { ageColumn, nameColumn, none } from '../../columns.ts';
import { validateDomainPath } from '../../domain-path.ts';
import { validateReference } from './references.ts';
import type { IngressClass, IngressClassParametersReference } from './types.gen.ts';

export type { IngressClass } from './types.gen.ts';

const maxControllerLength = 250;

function validateClass({ spec: { controller = '', parameters } }: IngressClass): StatusCause[] {
  const path = 'spec.controller';
  return [
    ...(controller.length > maxControllerLength ? [tooLongCause(path, maxControllerLength)] : []),
    ...validateDomainPath(controller, path),
    ...(parameters ? validateParameters(parameters, 'spec.parameters') : []),
  ];
}

function validateParameters(parameters: IngressClassParametersReference, path: string): StatusCause[] {
  const { scope, namespace } = parameters;
  const causes = validateReference(parameters, path);
  const at = `${path}.namespace`;
  if (scope === 'Cluster' && namespace !== undefined)
    causes.push(forbiddenCause(at, "`parameters.scope` is set to 'Cluster'"));
  if (scope === 'Namespace' && namespace === undefined)
    causes.push(requiredCause(at, "`parameters.scope` is set to 'Namespace'"));
  if (scope === 'Namespace' && namespace !== undefined)
    causes.push(...nameCauses(at, namespace, checkDns1123Label));
  return causes;
}

function parametersText({ spec: { parameters } }: IngressClass): string {
  if (!parameters) return none;
  const { kind, apiGroup, name } = parameters;
  return `${kind}${apiGroup === undefined ? '' : `.${apiGroup}`}/${name}`;
}

export const ingressClassResource: ResourceDefinition<IngressClass> = {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'IngressClass',
  plural: 'ingressclasses',
  singular: 'ingressclass',
  shortNames: [],
  categories: [],
  namespaced: false,
  typeName: 'networking.v1.IngressClass',
  rules: {
    'networking.v1.IngressClass': { defaults: { spec: {} } },
    'networking.v1.IngressClassSpec': {},
    'networking.v1.IngressClassParametersReference': {
      defaults: { kind: '', name: '', scope: 'Cluster' },
      choices: { scope: ['Cluster', 'Namespace'] },
    },
  },
  strategy: {
    validate: validateClass,
    validateUpdate: ({ spec }, { spec: old }) =>
      spec.controller === old.controller
        ? []
        : [invalidCause('spec.controller', spec.controller ?? '', 'field is immutable')],
    countsGenerations: true,
  },
  hasStatus: false,
  columns: [
    nameColumn,
    {
      name: 'Controller',
      type: 'string',
      description: 'The controller of the Ingresses of this class.',
      cell: ({ spec }) => spec.controller ?? '',
    },
    {
      name: 'Parameters',
      type: 'string',
      description: 'The object with the parameters of the controller.',
      cell: parametersText,
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
