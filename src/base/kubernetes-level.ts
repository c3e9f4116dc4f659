/** The version of Kubernetes whose API is served and whose node agent this one is like. */
export const kubernetesLevel = { major: '1', minor: '32' } as const;
