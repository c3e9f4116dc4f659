/**
 * Field numbers of admissionregistration and apiregistration,
 * as Kubernetes 1.32 publishes them in its generated.proto files.
 */
export const extensionMessages: Readonly<Record<string, string>> = {
  // admissionregistration/v1
  AdmissionregistrationV1ServiceReference: '1:namespace 2:name 3:path 4:port',
  AdmissionregistrationV1WebhookClientConfig: '1:service 2:caBundle? 3:url',
  V1AuditAnnotation: '1:key 2:valueExpression',
  V1ExpressionWarning: '2:fieldRef 3:warning',
  V1MatchCondition: '1:name 2:expression',
  V1MatchResources:
    '1:namespaceSelector 2:objectSelector 3:resourceRules 4:excludeResourceRules 7:matchPolicy',
  V1MutatingWebhook:
    '1:name 2:clientConfig 3:rules 4:failurePolicy 5:namespaceSelector 6:sideEffects 7:timeoutSeconds 8:admissionReviewVersions 9:matchPolicy 10:reinvocationPolicy 11:objectSelector 12:matchConditions',
  V1MutatingWebhookConfiguration: '1:metadata 2:webhooks',
  V1NamedRuleWithOperations: '1:resourceNames 2:^V1RuleWithOperations',
  V1ParamKind: '1:apiVersion? 2:kind?',
  V1ParamRef: '1:name? 2:namespace? 3:selector 4:parameterNotFoundAction',
  V1Rule: '1:apiGroups 2:apiVersions 3:resources 4:scope',
  V1RuleWithOperations: '1:operations 2:^V1Rule',
  V1TypeChecking: '1:expressionWarnings',
  V1ValidatingAdmissionPolicy: '1:metadata 2:spec 3:status',
  V1ValidatingAdmissionPolicyBinding: '1:metadata 2:spec',
  V1ValidatingAdmissionPolicyBindingSpec: '1:policyName? 2:paramRef 3:matchResources 4:validationActions',
  V1ValidatingAdmissionPolicySpec:
    '1:paramKind 2:matchConstraints 3:validations 4:failurePolicy 5:auditAnnotations 6:matchConditions 7:variables',
  V1ValidatingAdmissionPolicyStatus: '1:observedGeneration? 2:typeChecking 3:conditions',
  V1ValidatingWebhook:
    '1:name 2:clientConfig 3:rules 4:failurePolicy 5:namespaceSelector 6:sideEffects 7:timeoutSeconds 8:admissionReviewVersions 9:matchPolicy 10:objectSelector 11:matchConditions',
  V1ValidatingWebhookConfiguration: '1:metadata 2:webhooks',
  V1Validation: '1:expression 2:message? 3:reason 4:messageExpression?',
  V1Variable: '1:name 2:expression',
  // apiregistration/v1
  ApiregistrationV1ServiceReference: '1:namespace? 2:name? 3:port',
  V1APIService: '1:metadata 2:spec 3:status',
  V1APIServiceCondition: '1:type 2:status 3:lastTransitionTime 4:reason? 5:message?',
  V1APIServiceSpec:
    '1:service 2:group? 3:version? 4:insecureSkipTLSVerify? 5:caBundle? 7:groupPriorityMinimum 8:versionPriority',
  V1APIServiceStatus: '1:conditions',
};
