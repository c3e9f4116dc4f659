/** PodTemplate: a pod template as an object of its own, for controllers that create pods from it. */
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { formatLabels, nameColumn } from '../../columns.ts';
import { setPodTemplateDefaults } from './pod/defaults.ts';
import { validatePodTemplate } from './pod/template-validation.ts';
import type { PodTemplate } from './types.gen.ts';

export const podTemplateResource: ResourceDefinition<PodTemplate> = {
  group: '',
  version: 'v1',
  kind: 'PodTemplate',
  plural: 'podtemplates',
  singular: 'podtemplate',
  shortNames: [],
  categories: [],
  namespaced: true,
  typeName: 'core.v1.PodTemplate',
  rules: { 'core.v1.PodTemplate': { requires: 'template' } },
  strategy: {
    setDefaults: ({ template }) => setPodTemplateDefaults(template),
    validate: ({ template }) => validatePodTemplate(template, 'template'),
    countsGenerations: true,
  },
  hasStatus: false,
  columns: [
    nameColumn,
    {
      name: 'Containers',
      type: 'string',
      description: 'Names of the containers of the template.',
      cell: ({ template }) => template.spec.containers.map(({ name }) => name).join(','),
    },
    {
      name: 'Images',
      type: 'string',
      description: 'Images of the containers of the template.',
      cell: ({ template }) => template.spec.containers.map(({ image }) => image).join(','),
    },
    {
      name: 'Pod Labels',
      type: 'string',
      description: 'The labels of pods that are made of the template.',
      cell: ({ template }) => formatLabels(template.metadata.labels),
    },
  ],
  selectableFields: {},
  deleteAnswers: 'object',
};
