/** Any 8-4-4-4-12 hex form: published examples of the interface are not RFC 9562 variants and must work. */
export const uuidPattern = '^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$';

export const pinPattern = '^[0-9]{4,12}$';
