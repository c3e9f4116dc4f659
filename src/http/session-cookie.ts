/** Name of the cookie of a browser's session. The prefix makes browsers send it to one host only. */
export const sessionCookie = '__Host-minik8s-session';
