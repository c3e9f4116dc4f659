/** Words for the kinds that every server of minik8s has, for advice that is given without a server. Pure. */

/** Plurals, with the short names of the kind behind them. */
const kinds = `
  apiservices certificatesigningrequests csr clusterrolebindings clusterroles clustertrustbundles
  componentstatuses cs configmaps cm controllerrevisions cronjobs cj csidrivers csinodes
  csistoragecapacities customresourcedefinitions crd crds daemonsets ds deployments deploy endpointslices
  endpoints ep events ev flowschemas horizontalpodautoscalers hpa ingressclasses ingresses ing ipaddresses
  ip jobs leases limitranges limits localsubjectaccessreviews mutatingadmissionpolicybindings
  mutatingadmissionpolicies mutatingwebhookconfigurations namespaces ns networkpolicies netpol nodes no
  persistentvolumeclaims pvc persistentvolumes pv podcertificaterequests poddisruptionbudgets pdb pods po
  podtemplates priorityclasses pc prioritylevelconfigurations replicasets rs replicationcontrollers rc
  resourcequotas quota rolebindings roles runtimeclasses secrets selfsubjectaccessreviews selfsubjectreviews
  selfsubjectrulesreviews serviceaccounts sa servicecidrs services svc servicetraffics statefulsets sts
  storageclasses sc storageversionmigrations subjectaccessreviews tokenreviews
  validatingadmissionpolicybindings validatingadmissionpolicies validatingwebhookconfigurations
  volumeattachments volumeattributesclasses vac functions workflows triggers slurmjobs all`;

const singularOf = (plural: string): string => {
  if (plural.endsWith('ies')) return `${plural.slice(0, -3)}y`;
  return plural.replace(/(?<=ss|us|x)es$|s$/, '');
};

const words: ReadonlySet<string> = new Set(
  kinds
    .trim()
    .split(/\s+/)
    .flatMap((word) => [word, singularOf(word)]),
);

/** Returns true for a plural, a singular or a short name, in upper or lower case; also for `all`. */
export const isKindWord = (word: string): boolean => words.has(word.toLowerCase());
