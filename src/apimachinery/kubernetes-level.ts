/** The version of Kubernetes whose API is served and whose kubelet the node agent corresponds to. */
export const kubernetesLevel = { major: '1', minor: '32' } as const;
