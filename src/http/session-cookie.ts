/** Name of the cookie with which a browser shows its session; the prefix makes browsers keep it to one host. */
export const sessionCookie = '__Host-minik8s-session';
