import type { RulesByType } from '../../../apimachinery/type-rules.ts';

/**
 * Rules of the types of CustomResourceDefinitions. Required fields are reported by the validation, in
 * upstream's words.
 */
export const definitionRules: RulesByType = {
  'apiextensions.v1.CustomResourceDefinition': {},
  'apiextensions.v1.CustomResourceDefinitionSpec': {
    defaults: { group: '', names: {}, scope: '', versions: [] },
  },
  'apiextensions.v1.CustomResourceDefinitionStatus': {},
  // Clients may write conditions of their own, also without a status.
  'apiextensions.v1.CustomResourceDefinitionCondition': { defaults: { type: '', status: '' } },
  'apiextensions.v1.CustomResourceDefinitionNames': { defaults: { plural: '', kind: '' } },
  'apiextensions.v1.CustomResourceDefinitionVersion': {
    defaults: { name: '', served: false, storage: false },
  },
  'apiextensions.v1.CustomResourceConversion': { defaults: { strategy: '' } },
  'apiextensions.v1.CustomResourceValidation': {},
  'apiextensions.v1.CustomResourceSubresources': {},
  'apiextensions.v1.CustomResourceSubresourceStatus': {},
  'apiextensions.v1.CustomResourceSubresourceScale': {
    defaults: { specReplicasPath: '', statusReplicasPath: '' },
  },
  'apiextensions.v1.CustomResourceColumnDefinition': { defaults: { name: '', type: '', jsonPath: '' } },
  'apiextensions.v1.SelectableField': { defaults: { jsonPath: '' } },
  'apiextensions.v1.WebhookConversion': { defaults: { conversionReviewVersions: [] } },
  'apiextensions.v1.WebhookClientConfig': {},
  'apiextensions.v1.ServiceReference': { defaults: { namespace: '', name: '', port: 443 } },
  'apiextensions.v1.JSONSchemaProps': {},
  'apiextensions.v1.ExternalDocumentation': {},
  'apiextensions.v1.ValidationRule': { defaults: { rule: '' } },
};
