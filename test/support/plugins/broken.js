export default { name: 'Broken Name', steps: 3, namesUser: 'yes' };
