/**
 * Field numbers of authentication, authorization, certificates and RBAC,
 * as Kubernetes 1.32 publishes them in its generated.proto files.
 */
export const accessMessages: Readonly<Record<string, string>> = {
  // authentication/v1
  AuthenticationV1TokenRequest: '1:metadata 2:spec 3:status',
  V1BoundObjectReference: '1:kind? 2:apiVersion? 3:name? 4:uid?',
  V1SelfSubjectReview: '1:metadata 2:status',
  V1SelfSubjectReviewStatus: '1:userInfo',
  V1TokenRequestSpec: '1:audiences 3:boundObjectRef 4:expirationSeconds',
  V1TokenRequestStatus: '1:token 2:expirationTimestamp',
  V1TokenReview: '1:metadata 2:spec 3:status',
  V1TokenReviewSpec: '1:token? 2:audiences',
  V1TokenReviewStatus: '1:authenticated? 2:user 3:error? 4:audiences',
  V1UserInfo: '1:username? 2:uid? 3:groups 4:extra',
  // authorization/v1
  V1FieldSelectorAttributes: '1:rawSelector? 2:requirements',
  V1LabelSelectorAttributes: '1:rawSelector? 2:requirements',
  V1LocalSubjectAccessReview: '1:metadata 2:spec 3:status',
  V1NonResourceAttributes: '1:path? 2:verb?',
  V1NonResourceRule: '1:verbs 2:nonResourceURLs',
  V1ResourceAttributes:
    '1:namespace? 2:verb? 3:group? 4:version? 5:resource? 6:subresource? 7:name? 8:fieldSelector 9:labelSelector',
  V1ResourceRule: '1:verbs 2:apiGroups 3:resources 4:resourceNames',
  V1SelfSubjectAccessReview: '1:metadata 2:spec 3:status',
  V1SelfSubjectAccessReviewSpec: '1:resourceAttributes 2:nonResourceAttributes',
  V1SelfSubjectRulesReview: '1:metadata 2:spec 3:status',
  V1SelfSubjectRulesReviewSpec: '1:namespace?',
  V1SubjectAccessReview: '1:metadata 2:spec 3:status',
  V1SubjectAccessReviewSpec: '1:resourceAttributes 2:nonResourceAttributes 3:user? 4:groups 5:extra 6:uid?',
  V1SubjectAccessReviewStatus: '1:allowed 2:reason? 3:evaluationError? 4:denied?',
  V1SubjectRulesReviewStatus: '1:resourceRules 2:nonResourceRules 3:incomplete 4:evaluationError?',
  // certificates/v1
  V1CertificateSigningRequest: '1:metadata 2:spec 3:status',
  V1CertificateSigningRequestCondition:
    '1:type 2:reason? 3:message? 4:lastUpdateTime 5:lastTransitionTime 6:status',
  V1CertificateSigningRequestSpec:
    '1:request 2:username? 3:uid? 4:groups 5:usages 6:extra 7:signerName 8:expirationSeconds',
  V1CertificateSigningRequestStatus: '1:conditions 2:certificate?',
  // rbac/v1
  RbacV1Subject: '1:kind 2:apiGroup? 3:name 4:namespace?',
  V1AggregationRule: '1:clusterRoleSelectors',
  V1ClusterRole: '1:metadata 2:rules 3:aggregationRule',
  V1ClusterRoleBinding: '1:metadata 2:subjects 3:roleRef',
  V1PolicyRule: '1:verbs 2:apiGroups 3:resources 4:resourceNames 5:nonResourceURLs',
  V1Role: '1:metadata 2:rules',
  V1RoleBinding: '1:metadata 2:subjects 3:roleRef',
  V1RoleRef: '1:apiGroup 2:kind 3:name',
};
