import type { RulesByType } from '../../../apimachinery/type-rules.ts';

/**
 * Rules of the types of CustomResourceDefinitions. Required fields are reported by the validation, in
 * upstream's words.
 */
export const definitionRules: RulesByType = {
  'apiextensions.v1.CustomResourceDefinition': {},
  'apiextensions.v1.CustomResourceDefinitionSpec': { mayLack: 'group names scope versions' },
  'apiextensions.v1.CustomResourceDefinitionStatus': {},
  // Clients may write conditions of their own, also without a status.
  'apiextensions.v1.CustomResourceDefinitionCondition': { mayLack: 'type status' },
  'apiextensions.v1.CustomResourceDefinitionNames': { mayLack: 'plural kind' },
  'apiextensions.v1.CustomResourceDefinitionVersion': { mayLack: 'name served storage' },
  'apiextensions.v1.CustomResourceConversion': { mayLack: 'strategy' },
  'apiextensions.v1.CustomResourceValidation': {},
  'apiextensions.v1.CustomResourceSubresources': {},
  'apiextensions.v1.CustomResourceSubresourceStatus': {},
  'apiextensions.v1.CustomResourceSubresourceScale': { mayLack: 'specReplicasPath statusReplicasPath' },
  'apiextensions.v1.CustomResourceColumnDefinition': { mayLack: 'name type jsonPath' },
  'apiextensions.v1.SelectableField': { mayLack: 'jsonPath' },
  'apiextensions.v1.WebhookConversion': { mayLack: 'conversionReviewVersions' },
  'apiextensions.v1.WebhookClientConfig': {},
  'apiextensions.v1.ServiceReference': { mayLack: 'namespace name' },
  'apiextensions.v1.JSONSchemaProps': {},
  'apiextensions.v1.ExternalDocumentation': {},
  'apiextensions.v1.ValidationRule': { mayLack: 'rule' },
};
